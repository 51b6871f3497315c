#!/bin/sh
# A plugin as a shell script: it reads one request from stdin and writes its answer to
# stdout. What it writes to stderr goes to the host's log.
set -eu

IFS= read -r request
id=$(printf '%s' "$request" | sed 's/^{"id":"\([^"]*\)".*/\1/')
# The schema keeps quotes and backslashes out of the name, so that sed can find its end.
folder=$(printf '%s' "$request" | sed 's/.*"folder":"\([^"]*\)".*/\1/')

if [ ! -d "$folder" ]; then
  printf '{"id":"%s","error":"there is no such folder"}\n' "$id"
  exit
fi
files=$(find "$folder" -type f | wc -l)
folders=$(find "$folder" -mindepth 1 -type d | wc -l)
printf '{"id":"%s","result":{"files":%d,"folders":%d}}\n' "$id" "$files" "$folders"
