// Wrong on purpose: the page imports of the program more than the types of the HTTP API.
import '../src/history/knows-runtime.ts';
