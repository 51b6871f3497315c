package main

import "github.com/toolhost/toolhost/internal/clean"

// Texts of plugins, and the names of their folders, are printed only through these
// functions.

// printable gives a text of several lines as it can be shown on a terminal.
func printable(s string) string { return clean.Text(s) }

// oneLine gives a text as it can be shown on a line of its own, or in a column of one.
func oneLine(s string) string { return clean.Line(s) }

// escapeJSON gives JSON text as it can be shown on a terminal.
func escapeJSON(text []byte) []byte { return clean.JSON(text) }
