// An endpoint picker for the test of InferencePools; the standard library alone.
module periplus.dev/test/endpoint-picker

go 1.25.0
