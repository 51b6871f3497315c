"""A plugin in Python: one JSON message a line on stdin and stdout, the log on stderr."""
import csv
import json
import sys


def send(message):
    print(json.dumps(message, ensure_ascii=False), flush=True)


def number(text):
    try:
        return float(text)
    except ValueError:
        return None


def csv_columns(path, progress):
    with open(path, newline="", encoding="utf-8-sig") as f:
        reader = csv.reader(f)
        names = next(reader, None)
        if names is None:
            raise ValueError("the file is empty")
        columns = [{"name": name, "filled": 0, "values": set(), "numbers": []} for name in names]
        rows = 0
        for rows, row in enumerate(reader, 1):
            if rows % 100_000 == 0:
                progress(f"{rows} rows")
            for column, cell in zip(columns, row):
                if cell == "":
                    continue
                column["filled"] += 1
                column["values"].add(cell)
                if (n := number(cell)) is not None:
                    column["numbers"].append(n)
    described = []
    for c in columns:
        entry = {"name": c["name"], "filled": c["filled"], "different": len(c["values"])}
        if c["numbers"] and len(c["numbers"]) == c["filled"]:
            entry |= {"smallest": min(c["numbers"]), "largest": max(c["numbers"])}
        described.append(entry)
    return {"rows": rows, "columns": described}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue  # a notification, such as cancel: this program ends with its call anyway
        call = request["id"]

        def progress(message):
            send({"method": "progress", "params": {"id": call, "message": message}})

        try:
            # Marked paths arrive absolute. What the call was not granted cannot be opened.
            send({"id": call, "result": csv_columns(request["params"]["path"], progress)})
        except Exception as e:
            print(f"{type(e).__name__}: {e}", file=sys.stderr)
            send({"id": call, "error": str(e)})


main()
