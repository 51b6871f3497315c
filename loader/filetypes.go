package loader

// fileTypes gives the extensions that each kind of file stands for in an action's
// "fileTypes". docs/manifest.md has the same table.
func fileTypes() map[string][]string {
	return map[string][]string{
		"document": {".md", ".markdown", ".txt", ".rst", ".adoc", ".tex", ".pdf", ".doc", ".docx", ".odt", ".rtf", ".ppt", ".pptx", ".odp", ".epub", ".html", ".htm", ".org", ".hwp", ".hwpx"},
		"code": {".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".py", ".rb", ".php", ".java", ".kt", ".kts", ".scala", ".c", ".h", ".cc", ".cpp", ".cxx", ".hpp", ".cs",
			".rs", ".swift", ".m", ".dart", ".lua", ".pl", ".r", ".jl", ".ex", ".exs", ".erl", ".hs", ".clj", ".fs", ".vb", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".bat", ".cmd",
			".sql", ".html", ".htm", ".css", ".scss", ".sass", ".less", ".vue", ".svelte", ".astro"},
		"data":  {".json", ".jsonl", ".ndjson", ".json5", ".yaml", ".yml", ".toml", ".xml", ".csv", ".tsv", ".xls", ".xlsx", ".ods", ".parquet", ".avro", ".sqlite", ".db", ".ini", ".env", ".properties", ".log"},
		"image": {".png", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".tif", ".tiff", ".svg", ".ico", ".heic", ".heif"},
		"video": {".mp4", ".m4v", ".mov", ".mkv", ".webm", ".avi", ".wmv", ".flv", ".mpg", ".mpeg", ".ogv", ".3gp"},
		"audio": {".mp3", ".m4a", ".aac", ".wav", ".flac", ".ogg", ".oga", ".opus", ".wma", ".aiff"},
	}
}
