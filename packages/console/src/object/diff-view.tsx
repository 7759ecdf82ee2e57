// Shows the differences between two texts, added and removed lines with signs and colors.

import { useMemo } from 'preact/hooks'
import { countText } from '../ui/format.js'
import { shortened } from '../ui/visible-text.js'
import { diffLines, hunksOf } from './line-diff.js'

const maxShownLines = 2000
const maxLineCharacters = 600
const signs = { same: ' ', added: '+', removed: '-' } as const

interface DiffViewProps {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly label: string
}

export function DiffView({ before, after, label }: DiffViewProps) {
  const rows = useMemo(() => rowsOf(before, after), [before, after])
  if (rows.length === 0) return <p class="empty">No difference.</p>
  const left = rows.length - maxShownLines
  return (
    <section class="diff" tabIndex={0} aria-label={label}>
      {rows.slice(0, maxShownLines).map(({ type, text }, i) => (
        <div class={type} key={i}>
          {text}
        </div>
      ))}
      {left > 0 && <div class="skipped">{countText(left)} more lines</div>}
    </section>
  )
}

const rowsOf = (before: readonly string[], after: readonly string[]): readonly { readonly type: string; readonly text: string }[] =>
  hunksOf(diffLines(before, after)).flatMap(({ skipped, lines }) => [
    ...(skipped > 0 ? [{ type: 'skipped', text: `${countText(skipped)} equal lines` }] : []),
    ...lines.map(({ type, text }) => ({ type, text: `${signs[type]} ${shortened(text, maxLineCharacters)}` })),
  ])
