// CodeMirror for YAML as a component: keys, search, folding and highlighting that the view and the editor share.

import { defaultKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { codeFolding, foldGutter, foldKeymap } from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension } from '@codemirror/state'
import { EditorView, highlightSpecialChars, keymap, lineNumbers } from '@codemirror/view'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { countText } from '../ui/format.js'
import { hiddenCharacters, visibleText } from '../ui/visible-text.js'
import { theme } from './theme.js'

interface CodeMirrorProps {
  readonly label: string
  /** The text at the beginning. */
  readonly text: string
  /** Read once. */
  readonly extensions: Extension
  readonly view: RefObject<EditorView | null>
}

export function CodeMirror({ label, text, extensions, view }: CodeMirrorProps) {
  const host = useRef<HTMLDivElement>(null)
  useLayoutEffect(() => {
    if (host.current === null) return undefined
    const parent = host.current.attachShadow({ mode: 'open' })
    const created = new EditorView({ doc: text, extensions: [extensions, shared, labelled(label)], parent })
    view.current = created
    return () => created.destroy()
  }, [])
  return <div class="editor" ref={host} />
}

const labelled = (label: string): Extension => EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' })

/** The text of the folded lines is replaced by their number. */
const folding = codeFolding({
  preparePlaceholder: (state, { from, to }) => state.doc.lineAt(to).number - state.doc.lineAt(from).number,
  placeholderDOM: (_, unfold, lines: number) => {
    const placeholder = document.createElement('span')
    placeholder.className = 'folded'
    placeholder.textContent = ` … ${countText(lines)} lines`
    placeholder.onclick = unfold
    return placeholder
  },
})

/** Shows hidden characters as escapes, as everywhere in the console. */
const specialCharacters = highlightSpecialChars({
  specialChars: new RegExp(hiddenCharacters.source, 'g'),
  render: (code) => {
    const shown = document.createElement('span')
    shown.className = 'hidden-character'
    shown.textContent = visibleText(String.fromCharCode(code))
    return shown
  },
})

const shared: Extension = [
  yaml(),
  theme,
  lineNumbers(),
  foldGutter(),
  folding,
  specialCharacters,
  search({ top: true }),
  keymap.of([...defaultKeymap, ...searchKeymap, ...foldKeymap]),
  EditorState.tabSize.of(2),
]
