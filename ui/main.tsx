// The explorer's page: mounts the app. Names, annotations and messages of a mesh are untrusted; they become text nodes
// and attributes here, never markup.

import './style/base.css';
import './style/layout.css';
import './style/views.css';
import './style/print.css';
import 'uplot/dist/uPlot.min.css';
import { render } from 'preact';
import { App } from './app.tsx';
import { applyTheme, chosenTheme } from './client/theme.ts';

const place = document.getElementById('app');
applyTheme(chosenTheme());
if (place !== null) render(<App />, place);
