// The look of the editor, by the variables of the style sheet. Its rules are constructed style sheets of a shadow root: CodeMirror adds a
// style element to other documents, which the Content-Security-Policy forbids.

import { HighlightStyle, syntaxHighlighting } from '@codemirror/language'
import type { Extension } from '@codemirror/state'
import { EditorView } from '@codemirror/view'
import { tags } from '@lezer/highlight'

const colors = HighlightStyle.define([
  { tag: tags.definition(tags.propertyName), color: 'var(--key)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--string)' },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: 'var(--number)' },
  { tag: [tags.lineComment, tags.meta], color: 'var(--soft)' },
])

const small = { fontFamily: 'system-ui, "DejaVu Sans", sans-serif', fontSize: '12px', lineHeight: '18px' }
const panel = { backgroundColor: 'var(--panel)', borderColor: 'var(--line)', color: 'var(--soft)' }
const field = { backgroundColor: 'var(--back)', backgroundImage: 'none', borderColor: 'var(--line)', color: 'var(--text)' }

const rules = EditorView.theme({
  '&': { color: 'var(--text)' },
  // The style sheet of the page has the outline around the gutter, too.
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '20px' },
  '.cm-content': { caretColor: 'var(--text)', padding: '6px 0' },
  '.cm-line': { unicodeBidi: 'isolate' },
  '.cm-gutters': panel,
  '.cm-foldGutter span': { cursor: 'pointer' },
  '.cm-searchMatch': { backgroundColor: 'var(--flash)' },
  '.cm-panels': { ...panel, color: 'var(--text)' },
  '.cm-panels .cm-textfield': field,
  '.cm-panels .cm-button': field,
  '.cm-panels label': { fontSize: '13px' },
  '.cm-tooltip': {
    backgroundColor: 'var(--back)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    boxShadow: '0 6px 20px rgb(0 0 0 / 25%)',
    maxWidth: 'min(420px, 90vw)',
    overflowWrap: 'anywhere',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', fontSize: '13px', lineHeight: '1.6' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: '#fff' },
  '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
  '.cm-completionInfo': { ...small, maxHeight: '240px', overflow: 'auto' },
  '.folded': { color: 'var(--soft)', cursor: 'pointer' },
  '.note': { ...small, color: 'var(--soft)', marginLeft: '24px' },
  '.note.shared': { color: 'var(--warn)' },
  '.note-details': { ...small, padding: '4px 8px', whiteSpace: 'pre-wrap' },
  '.hidden-character': { color: 'var(--bad)' },
  '.editor-problem': {
    ...small,
    backgroundColor: 'var(--removed)',
    borderLeft: '3px solid var(--bad)',
    maxHeight: '72px',
    overflow: 'auto',
    overflowWrap: 'anywhere',
    padding: '1px 8px',
    whiteSpace: 'pre-wrap',
  },
})

export const theme: Extension = [rules, syntaxHighlighting(colors)]
