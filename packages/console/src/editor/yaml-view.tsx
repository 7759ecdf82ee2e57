// Shows an object as YAML: folding by its fields, long texts shortened, and a note for each field, such as its manager.

import { foldEffect, foldService, unfoldAll } from '@codemirror/language'
import { type ChangeSpec, Compartment, EditorState, type Extension, type Text } from '@codemirror/state'
import { Decoration, type DecorationSet, EditorView, hoverTooltip, ViewPlugin, type ViewUpdate, WidgetType } from '@codemirror/view'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import { diffLines } from '../object/line-diff.js'
import { type FieldPath, lineText, type YamlLine } from '../object/yaml-lines.js'
import { shortened, visibleText } from '../ui/visible-text.js'
import { CodeMirror } from './code-mirror.js'

const maxValueCharacters = 600
const maxKeyCharacters = 80

export interface FieldNote {
  readonly text: string
  /** Shown while the pointer or the cursor is on the line. */
  readonly details: string
  readonly isShared: boolean
}

type NoteOf = (path: FieldPath) => FieldNote | undefined

interface YamlViewProps {
  readonly label: string
  readonly lines: readonly YamlLine[]
  readonly noteOf: NoteOf
  /** Notes at the ends of the lines; their details are always shown at the pointer. */
  readonly showsNotes: boolean
  /** Buttons next to those of folding. */
  readonly children?: ComponentChildren
}

export function YamlView({ label, lines, noteOf, showsNotes, children }: YamlViewProps) {
  const view = useRef<EditorView>(null)
  const [fields] = useState(() => new Compartment())
  /** Index of the line with the cursor; undefined until the user moves it. */
  const [cursor, setCursor] = useState<number>()
  const texts = lines.map(shownText)
  useLayoutEffect(() => {
    view.current?.dispatch({
      changes: changesTo(view.current.state.doc, texts),
      effects: fields.reconfigure(fieldExtensions(lines, noteOf, showsNotes)),
    })
  }, [lines, noteOf, showsNotes])
  const fold = (): void => {
    const { doc } = view.current?.state ?? EditorState.create()
    const ranges = lines.flatMap((line, i) => (line.path.length === 2 ? (foldRange(doc, line, i) ?? []) : []))
    view.current?.dispatch({ effects: ranges.map((range) => foldEffect.of(range)) })
  }
  return (
    <>
      <div class="tools">
        <button type="button" onClick={fold}>
          Fold
        </button>
        <button type="button" onClick={() => view.current !== null && unfoldAll(view.current)}>
          Unfold
        </button>
        {children}
      </div>
      <CodeMirror
        label={label}
        text={`${texts.join('\n')}\n`}
        extensions={[
          fields.of(fieldExtensions(lines, noteOf, showsNotes)),
          EditorState.readOnly.of(true),
          // No keyboard on the screen of a phone.
          EditorView.contentAttributes.of({ 'aria-readonly': 'true', inputmode: 'none' }),
          EditorView.lineWrapping,
          EditorView.updateListener.of(({ selectionSet, state: { doc, selection } }) => {
            if (selectionSet) setCursor(doc.lineAt(selection.main.head).number - 1)
          }),
        ]}
        view={view}
      />
      <p class="hint" role="status">
        {cursor !== undefined && detailsOf(lines[cursor], noteOf)}
      </p>
    </>
  )
}

/** For those who use no pointer: what hovering shows. */
function detailsOf(line: YamlLine | undefined, noteOf: NoteOf): string {
  const note = line && noteOf(line.path)
  return note === undefined ? '' : `${shortened(String(line?.path.at(-1)), maxKeyCharacters)}: ${note.details.replaceAll('\n', '; ')}`
}

const shownText = (line: YamlLine): string =>
  visibleText(
    lineText({
      ...line,
      key: line.key === undefined ? undefined : shortened(line.key, maxValueCharacters),
      value: shortened(line.value, maxValueCharacters),
    }),
  )

/** Replaces only lines that differ: folded lines, the cursor and the scroll position stay. */
function changesTo(doc: Text, texts: readonly string[]): readonly ChangeSpec[] {
  const changes: ChangeSpec[] = []
  let from = 0
  for (const { type, text } of diffLines(doc.toJSON().slice(0, -1), texts)) {
    const to = type === 'added' ? from : from + text.length + 1
    if (type === 'added') changes.push({ from, insert: `${text}\n` })
    else if (type === 'removed') changes.push({ from, to })
    from = to
  }
  return changes
}

function foldRange(doc: Text, line: YamlLine, index: number): { readonly from: number; readonly to: number } | undefined {
  const isFoldable = line.key !== undefined && line.end > index + 1 && line.end <= doc.lines
  return isFoldable ? { from: doc.line(index + 1).to, to: doc.line(line.end).to } : undefined
}

class NoteWidget extends WidgetType {
  readonly note: FieldNote

  constructor(note: FieldNote) {
    super()
    this.note = note
  }

  override eq({ note }: NoteWidget): boolean {
    return note.details === this.note.details
  }

  override toDOM(): HTMLElement {
    const shown = document.createElement('span')
    shown.className = this.note.isShared ? 'note shared' : 'note'
    shown.textContent = visibleText(this.note.text)
    shown.title = visibleText(this.note.details)
    return shown
  }
}

function fieldExtensions(lines: readonly YamlLine[], noteOf: NoteOf, showsNotes: boolean): Extension {
  const noteAt = (doc: Text, position: number): FieldNote | undefined => {
    const line = lines[doc.lineAt(position).number - 1]
    return line && noteOf(line.path)
  }
  const notesOf = ({ state: { doc }, visibleRanges }: EditorView): DecorationSet =>
    Decoration.set(
      visibleRanges.flatMap(({ from, to }) => {
        const widgets = []
        for (let line = doc.lineAt(from); ; line = doc.line(line.number + 1)) {
          const note = noteAt(doc, line.from)
          if (note !== undefined) widgets.push(Decoration.widget({ widget: new NoteWidget(note), side: 1 }).range(line.to))
          if (line.to >= to) return widgets
        }
      }),
      true,
    )
  const notes = ViewPlugin.define(
    (view) => ({
      shown: notesOf(view),
      update(update: ViewUpdate) {
        if (update.docChanged || update.viewportChanged) this.shown = notesOf(update.view)
      },
    }),
    { decorations: ({ shown }) => shown },
  )
  return [
    foldService.of(({ doc }, from) => {
      const index = doc.lineAt(from).number - 1
      const line = lines[index]
      return (line && foldRange(doc, line, index)) ?? null
    }),
    hoverTooltip(({ state: { doc } }, position) => {
      const note = noteAt(doc, position)
      if (note === undefined) return null
      return { pos: doc.lineAt(position).from, above: true, create: () => ({ dom: detailsElement(note.details) }) }
    }),
    showsNotes ? notes : [],
  ]
}

function detailsElement(details: string): HTMLElement {
  const shown = document.createElement('div')
  shown.className = 'note-details'
  shown.textContent = visibleText(details)
  return shown
}
