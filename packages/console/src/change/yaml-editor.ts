// An editor for YAML: line numbers, problems under their lines, completion by the schema of the kind.

import { button, element, replaceChildren } from '../dom/element.js'
import type { KindSchema, Member } from './kind-schema.js'
import { type ScannedLine, scanYaml } from './scan-yaml.js'

/** Pixels; the style sheet has the same height. */
const lineHeight = 20
const maxSuggestions = 200
const maxScannedCharacters = 300_000
/** Longer lines have no suggestions: the search for their last word would take quadratic time. */
const maxSuggestedCharacters = 1000

export interface Problem {
  readonly line: number
  readonly message: string
}

interface Settings {
  readonly label: string
  /** Called when the cursor reaches another field. */
  readonly onField: (path: readonly (string | number)[]) => void
  readonly onChange: () => void
}

interface Suggestion {
  readonly text: string
  readonly inserted: string
  readonly hint: string
}

export class YamlEditor {
  readonly root: HTMLElement
  schema: KindSchema | undefined
  private readonly input: HTMLTextAreaElement
  private readonly numbers = element('pre', { class: 'line-numbers', 'aria-hidden': 'true' })
  private readonly problems = element('div', { class: 'editor-problems' })
  private readonly list = element('ul', {
    class: 'suggestions',
    role: 'listbox',
    id: 'suggestions',
    'aria-label': 'Suggestions',
    hidden: true,
  })
  private readonly settings: Settings
  private suggestions: readonly Suggestion[] = []
  private selected = 0
  private field = ''
  private suggestedLine = 0

  constructor(settings: Settings) {
    this.settings = settings
    this.input = element('textarea', {
      spellcheck: 'false',
      autocomplete: 'off',
      autocapitalize: 'off',
      wrap: 'off',
      'aria-label': settings.label,
      'aria-describedby': 'editor-help',
      'aria-controls': 'suggestions',
    })
    const { input } = this
    input.addEventListener('input', () => {
      this.drawNumbers()
      this.hideSuggestions()
      settings.onChange()
      this.reportField()
      if (/\S$/.test(this.textBeforeCursor())) this.suggest(false)
    })
    input.addEventListener('scroll', () => this.follow(), { passive: true })
    input.addEventListener('keydown', (event) => this.onKey(event))
    for (const type of ['click', 'keyup', 'focus'] as const) input.addEventListener(type, () => this.reportField())
    input.addEventListener('blur', () => setTimeout(() => this.hideSuggestions(), 150))
    this.root = element(
      'div',
      { class: 'editor' },
      element('div', { class: 'gutter' }, this.numbers),
      element('div', { class: 'editor-body' }, input, this.problems, this.list),
      element(
        'p',
        { class: 'hint', id: 'editor-help' },
        'Ctrl+Space suggests fields and values. Tab indents; Escape, then Tab leaves the editor.',
      ),
    )
  }

  get text(): string {
    return this.input.value
  }

  set text(text: string) {
    this.input.value = text
    this.input.setSelectionRange(0, 0)
    this.drawNumbers()
    this.setProblems([])
    this.reportField()
  }

  scan(): readonly ScannedLine[] {
    return scanYaml(this.text.slice(0, maxScannedCharacters))
  }

  focus(): void {
    this.input.focus()
  }

  setProblems(problems: readonly Problem[]): void {
    replaceChildren(
      this.problems,
      ...problems.map(({ line, message }) => {
        const shown = element('div', { class: 'editor-problem', role: 'alert' }, message)
        shown.style.top = `${(line + 1) * lineHeight}px`
        return shown
      }),
    )
    this.input.setAttribute('aria-invalid', String(problems.length > 0))
    const [first] = problems
    if (first !== undefined) this.input.scrollTop = Math.max(0, (first.line - 4) * lineHeight)
    this.follow()
  }

  private drawNumbers(): void {
    let count = 1
    for (let at = this.text.indexOf('\n'); at >= 0; at = this.text.indexOf('\n', at + 1)) count++
    if (this.numbers.dataset['count'] === String(count)) return
    this.numbers.dataset['count'] = String(count)
    this.numbers.textContent = Array.from({ length: count }, (_, i) => i + 1).join('\n')
  }

  private follow(): void {
    const { scrollTop } = this.input
    this.numbers.style.transform = `translateY(${-scrollTop}px)`
    this.problems.style.transform = `translateY(${-scrollTop}px)`
    this.placeSuggestions()
  }

  private textBeforeCursor(): string {
    const { value, selectionStart } = this.input
    return value.slice(value.lastIndexOf('\n', selectionStart - 1) + 1, selectionStart)
  }

  private cursorLine(): number {
    return this.text.slice(0, this.input.selectionStart).split('\n').length - 1
  }

  private reportField(): void {
    const path = this.scan()[this.cursorLine()]?.path ?? []
    const key = JSON.stringify(path)
    if (key === this.field) return
    this.field = key
    this.settings.onField(path)
  }

  private onKey(event: KeyboardEvent): void {
    const { key } = event
    if (!this.list.hidden) {
      const move = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : 0
      if (move !== 0) this.select((this.selected + move + this.suggestions.length) % this.suggestions.length)
      else if (key === 'Enter' || key === 'Tab') this.insert(this.suggestions[this.selected] as Suggestion)
      else if (key === 'Escape') this.hideSuggestions()
      if (move !== 0 || key === 'Enter' || key === 'Tab' || key === 'Escape') {
        event.preventDefault()
        event.stopPropagation()
        return
      }
    }
    if (key === ' ' && event.ctrlKey) {
      event.preventDefault()
      this.suggest(true)
    } else if (key === 'Tab' && !event.shiftKey && !event.ctrlKey && !event.altKey) {
      event.preventDefault()
      this.replaceRange('  ', 0)
    } else if (key === 'Enter' && !event.ctrlKey && !event.metaKey) {
      event.preventDefault()
      const before = this.textBeforeCursor()
      const indent = before.length - before.trimStart().length
      this.replaceRange(`\n${' '.repeat(indent + (/:\s*$/.test(before) ? 2 : 0))}`, 0)
    }
  }

  /** Replaces characters before the cursor. Keeps the undo history of the browser where it can. */
  private replaceRange(text: string, before: number): void {
    const { selectionStart, selectionEnd } = this.input
    this.input.setRangeText(text, selectionStart - before, selectionEnd, 'end')
    this.input.dispatchEvent(new Event('input'))
  }

  private suggest(isAsked: boolean): void {
    const { schema } = this
    const before = this.textBeforeCursor()
    if (schema === undefined || before.length > maxSuggestedCharacters) return
    const line = this.scan()[this.cursorLine()]
    const value = /^\s*(?:- )*[\w.-]+:\s+(\S*)$/.exec(before)
    const typed = value?.[1] ?? /([\w.-]*)$/.exec(before)?.[1] ?? ''
    if (line === undefined || (!isAsked && typed.length < 2)) return
    const parent = line.key === undefined ? line.path : line.path.slice(0, -1)
    const found =
      value === null
        ? schema.membersAt(parent).map((member) => ({
            text: member.name,
            inserted: insertedText(member),
            hint: `${member.type}${member.isRequired ? ' · required' : ''}`,
          }))
        : schema.enumAt(line.path).map((text) => ({ text, inserted: text, hint: '' }))
    this.suggestions = found
      .filter(({ text }) => text.toLowerCase().startsWith(typed.toLowerCase()) && (isAsked || text !== typed))
      .slice(0, maxSuggestions)
    if (this.suggestions.length === 0) {
      this.hideSuggestions()
      return
    }
    replaceChildren(
      this.list,
      ...this.suggestions.map((suggestion) => {
        const choose = button(suggestion.text, () => this.insert(suggestion), { tabindex: -1 })
        choose.append(element('small', {}, suggestion.hint))
        return element('li', { role: 'option' }, choose)
      }),
    )
    this.list.dataset['typed'] = String(typed.length)
    this.suggestedLine = this.cursorLine()
    this.placeSuggestions()
    this.list.style.left = `min(${before.length - typed.length}ch, 60%)`
    this.list.hidden = false
    this.select(0)
  }

  private placeSuggestions(): void {
    this.list.style.top = `${(this.suggestedLine + 1) * lineHeight - this.input.scrollTop + 6}px`
  }

  private select(index: number): void {
    this.selected = index
    for (const [i, item] of [...this.list.children].entries()) item.setAttribute('aria-selected', String(i === index))
    this.list.children[index]?.scrollIntoView({ block: 'nearest' })
  }

  private insert({ inserted }: Suggestion): void {
    this.replaceRange(inserted, Number(this.list.dataset['typed'] ?? 0))
    this.hideSuggestions()
    this.input.focus()
  }

  private hideSuggestions(): void {
    this.list.hidden = true
  }
}

const insertedText = ({ name, type }: Member): string =>
  `${name}:${type === 'Object' || type.startsWith('[]') || type.startsWith('map') ? '' : ' '}`
