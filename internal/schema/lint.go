package schema

func (c *compilation) linted(s *Schema) []Finding { return c.findings }
