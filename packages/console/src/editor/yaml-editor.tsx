// An editor for YAML: completion by the schema of the kind, problems under their lines. Its text is the state of its parent.

import { autocompletion, completionStatus } from '@codemirror/autocomplete'
import { history, historyKeymap, indentWithTab } from '@codemirror/commands'
import { lintKeymap, setDiagnostics } from '@codemirror/lint'
import { Prec } from '@codemirror/state'
import { EditorView, keymap } from '@codemirror/view'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { CodeMirror } from './code-mirror.js'
import { completeYaml } from './complete-yaml.js'
import type { KindSchema } from './kind-schema.js'
import { type Problem, problemLines } from './problem-lines.js'
import { type Path, scannedLine } from './scan-yaml.js'

interface YamlEditorProps {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  /** Called when the cursor reaches another field. */
  readonly onField: (path: Path) => void
  readonly schema: KindSchema | undefined
  readonly problems: readonly Problem[]
}

export function YamlEditor(props: YamlEditorProps) {
  const { label, text, problems } = props
  const view = useRef<EditorView>(null)
  const root = useRef<HTMLDivElement>(null)
  /** The extensions are created once, and read the newest props. */
  const latest = useRef(props)
  latest.current = props
  const field = useRef('')
  const reportField = ({ state }: EditorView): void => {
    const path = scannedLine(state.doc, state.selection.main.head)?.path ?? []
    const key = JSON.stringify(path)
    if (key === field.current) return
    field.current = key
    latest.current.onField(path)
  }
  /** Escape, unless it closes suggestions. Tab indents again once the user types. */
  const leave = (left: EditorView): boolean => {
    if (completionStatus(left.state) === 'active') return false
    left.setTabFocusMode(true)
    root.current?.focus()
    return true
  }
  const extensions = [
    // Before the keys of suggestions, which use Escape while they are computed, too.
    Prec.highest(keymap.of([{ key: 'Escape', run: leave }])),
    keymap.of([...historyKeymap, ...lintKeymap, indentWithTab]),
    history(),
    autocompletion({ override: [completeYaml(() => latest.current.schema)], icons: false, interactionDelay: 0 }),
    EditorView.theme({ '&': { height: 'min(64vh, 900px)', minHeight: '260px' } }),
    problemLines,
    EditorView.updateListener.of(({ docChanged, selectionSet, state, view: updated }) => {
      if (docChanged) {
        updated.setTabFocusMode(false)
        latest.current.onText(state.doc.toString())
      }
      if (docChanged || selectionSet) reportField(updated)
    }),
  ]
  useLayoutEffect(() => {
    if (view.current !== null) reportField(view.current)
  }, [])
  useLayoutEffect(() => {
    const shown = view.current
    if (shown === null || shown.state.doc.toString() === text) return
    shown.dispatch({ changes: { from: 0, to: shown.state.doc.length, insert: text }, selection: { anchor: 0 } })
  }, [text])
  useLayoutEffect(() => {
    const { current } = view
    if (current === null) return
    const { doc } = current.state
    const diagnostics = problems.map(({ line, message }) => {
      const { from, to } = doc.line(Math.min(line + 1, doc.lines))
      return { from, to, message, severity: 'error' as const }
    })
    current.dispatch(setDiagnostics(current.state, diagnostics))
    const [first] = diagnostics
    if (first !== undefined) current.dispatch({ effects: EditorView.scrollIntoView(first.from, { y: 'center' }) })
  }, [problems])
  return (
    <div class="yaml-editor" tabIndex={-1} ref={root}>
      <CodeMirror label={label} text={text} extensions={extensions} view={view} />
      <p class="hint">Ctrl+Space suggests fields and values. Tab indents; Escape leaves the editor. Ctrl+F searches.</p>
    </div>
  )
}
