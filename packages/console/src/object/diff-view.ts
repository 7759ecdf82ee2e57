// Shows the differences between two texts, added and removed lines with signs and colors.

import { element } from '../dom/element.js'
import { countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import { diffLines, hunksOf } from './line-diff.js'

const maxShownLines = 2000
const maxLineCharacters = 600
const signs = { same: ' ', added: '+', removed: '-' } as const

export function diffView(before: readonly string[], after: readonly string[], label: string): HTMLElement {
  const hunks = hunksOf(diffLines(before, after))
  if (hunks.length === 0) return element('p', { class: 'empty' }, 'No difference.')
  const rows: HTMLElement[] = []
  for (const { skipped, lines } of hunks) {
    if (skipped > 0) rows.push(element('div', { class: 'skipped' }, `${countText(skipped)} equal lines`))
    for (const { type, text } of lines) rows.push(element('div', { class: type }, `${signs[type]} ${shortened(text, maxLineCharacters)}`))
  }
  const left = rows.length - maxShownLines
  return element(
    'div',
    { class: 'diff', role: 'group', tabindex: 0, 'aria-label': label },
    ...rows.slice(0, maxShownLines),
    left > 0 && element('div', { class: 'skipped' }, `${countText(left)} more lines`),
  )
}
