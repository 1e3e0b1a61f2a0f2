// A YAML editor (CodeMirror 6). It lives in a shadow root: there CodeMirror adds its styles as constructed style
// sheets, which a strict content security policy allows, and not as <style> elements, which it forbids.
//
// The text belongs to the editor: it reports what is typed, and the page never writes that back. Otherwise two keys
// within one rendering would replace each other for ever.

import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { yaml } from '@codemirror/lang-yaml';
import { HighlightStyle, indentUnit, syntaxHighlighting } from '@codemirror/language';
import { EditorState } from '@codemirror/state';
import { EditorView, keymap, lineNumbers, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';

/** Longer texts are refused by the server. */
const TEXT_CHARS_MAX = 1_000_000;

interface YamlEditorProps {
  readonly label: string;
  /** Replaces the text when `revision` is another number. */
  readonly shown: { readonly text: string; readonly revision: number };
  readonly hint: string;
  readonly onChange: (text: string) => void;
}

const looks = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--panel)', fontSize: '12px', height: '100%' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.5', overflow: 'auto' },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-gutters': { backgroundColor: 'var(--panel)', color: 'var(--muted)', border: 'none' },
  '.cm-placeholder': { color: 'var(--muted)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-1px' },
  '.cm-selectionLayer .cm-selectionBackground, ::selection': { backgroundColor: 'var(--accent-soft)' },
});

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.content], color: 'var(--text)' },
  { tag: [tags.comment, tags.meta], color: 'var(--muted)' },
]);

export function YamlEditor({ label, shown, hint, onChange }: YamlEditorProps) {
  const place = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView>(undefined);
  const changed = useRef(onChange);
  changed.current = onChange;
  useEffect(() => {
    if (place.current === null) return undefined;
    const root = place.current.shadowRoot ?? place.current.attachShadow({ mode: 'open' });
    const view = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: shown.text,
        extensions: [
          lineNumbers(),
          history(),
          yaml(),
          indentUnit.of('  '),
          syntaxHighlighting(colours),
          looks,
          placeholder(hint),
          // Tab leaves the editor only after Escape, as CodeMirror's documentation recommends for keyboard users.
          keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
          EditorState.transactionFilter.of(change => (change.newDoc.length > TEXT_CHARS_MAX ? [] : change)),
          EditorView.contentAttributes.of({ 'aria-label': label }),
          EditorView.updateListener.of(update => {
            if (update.docChanged) changed.current(update.state.doc.toString());
          }),
        ],
      }),
    });
    editor.current = view;
    const over = (event: DragEvent): void => event.preventDefault();
    // Before CodeMirror's own: a dropped file takes the place of the text.
    const dropped = (event: DragEvent): void => {
      const [file] = event.dataTransfer?.files ?? [];
      if (file === undefined) return;
      event.preventDefault();
      event.stopPropagation();
      void file.text().then(text => replaceText(view, text));
    };
    const host = place.current;
    host.addEventListener('dragover', over);
    host.addEventListener('drop', dropped, { capture: true });
    return () => {
      host.removeEventListener('dragover', over);
      host.removeEventListener('drop', dropped, { capture: true });
      view.destroy();
    };
  }, [label, hint]);
  useEffect(() => {
    const view = editor.current;
    if (view !== undefined) replaceText(view, shown.text);
  }, [shown.revision]);
  return <div ref={place} class="editor" />;
}

function replaceText(view: EditorView, text: string): void {
  if (view.state.doc.toString() === text) return;
  view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
}
