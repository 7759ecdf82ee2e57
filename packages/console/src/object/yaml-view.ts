// Shows an object as YAML: lines with folding, long texts shortened, more lines on demand.

import { button, element, replaceChildren } from '../dom/element.js'
import { countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import type { FieldPath, YamlLine } from './yaml-lines.js'

const pageLines = 1500
const maxValueCharacters = 600

export interface LineNote {
  readonly text: string
  readonly title: string
  readonly kind?: string
}

interface Options {
  /** Note at the end of a line, such as its field manager. */
  readonly noteOf?: (path: FieldPath) => LineNote | undefined
  readonly onField?: (path: FieldPath) => void
}

export class YamlView {
  readonly root = element('div', { class: 'yaml', tabindex: 0, role: 'group', 'aria-label': 'Object as YAML' })
  private readonly options: Options
  private readonly folded = new Set<string>()
  private lines: readonly YamlLine[] = []
  private shownLines = pageLines

  constructor(options: Options = {}) {
    this.options = options
  }

  /** Keeps what is folded. */
  setLines(lines: readonly YamlLine[]): void {
    this.lines = lines
    this.draw()
  }

  foldAll(depth: number): void {
    for (const [i, line] of this.lines.entries()) if (line.path.length === depth && isFoldable(line, i)) this.folded.add(keyOf(line))
    this.draw()
  }

  unfoldAll(): void {
    this.folded.clear()
    this.draw()
  }

  private draw(): void {
    const shown: HTMLElement[] = []
    let i = 0
    for (; i < this.lines.length && shown.length < this.shownLines; ) {
      const line = this.lines[i] as YamlLine
      const canFold = isFoldable(line, i)
      const isFolded = canFold && this.folded.has(keyOf(line))
      shown.push(this.lineElement(line, i, { canFold, isFolded }))
      i = isFolded ? line.end : i + 1
    }
    const left = this.lines.length - i
    replaceChildren(
      this.root,
      ...shown,
      left > 0 && button(`Show more (${countText(left)} lines)`, () => this.showMore(), { class: 'more' }),
    )
  }

  private showMore(): void {
    this.shownLines += pageLines
    this.draw()
  }

  private lineElement(
    line: YamlLine,
    index: number,
    { canFold, isFolded }: { readonly canFold: boolean; readonly isFolded: boolean },
  ): HTMLElement {
    const { indent, dashes, key, value, path } = line
    const fold = canFold
      ? button(isFolded ? '▸' : '▾', () => this.toggle(line), {
          class: 'fold',
          'aria-expanded': isFolded ? 'false' : 'true',
          'aria-label': `${isFolded ? 'Unfold' : 'Fold'} ${path.join('.')}`,
        })
      : element('span', { class: 'fold' })
    const note = this.options.noteOf?.(path)
    const text = element(
      'span',
      { class: 'text' },
      ' '.repeat(indent),
      dashes,
      key !== undefined && element('span', { class: 'key' }, `${shortened(key, maxValueCharacters)}:`),
      key !== undefined && value !== '' && ' ',
      value !== '' && element('span', { class: valueClass(value) }, shortened(value, maxValueCharacters)),
      isFolded && element('span', { class: 'folded' }, ` … ${countText(line.end - index - 1)} lines`),
    )
    const row = element(
      'div',
      { class: 'line' },
      fold,
      text,
      note !== undefined && element('span', { class: `note ${note.kind ?? ''}`, title: note.title }, note.text),
    )
    const { onField } = this.options
    if (onField !== undefined) text.addEventListener('click', () => onField(path))
    return row
  }

  private toggle(line: YamlLine): void {
    const key = keyOf(line)
    if (this.folded.has(key)) this.folded.delete(key)
    else this.folded.add(key)
    const { scrollTop } = this.root
    this.draw()
    this.root.scrollTop = scrollTop
  }
}

const keyOf = ({ path }: YamlLine): string => JSON.stringify(path)

const isFoldable = (line: YamlLine, index: number): boolean => line.key !== undefined && line.end > index + 1

function valueClass(value: string): string {
  if (/^(?:true|false|null|\[\]|\{\})$/.test(value)) return 'literal'
  return /^-?\d+(?:\.\d+)?$/.test(value) ? 'number' : 'string'
}
