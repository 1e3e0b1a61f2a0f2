// Wrong on purpose: types for the page import code.
import './knows-runtime.ts';
