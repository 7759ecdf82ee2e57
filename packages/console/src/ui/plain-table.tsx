// A small table of texts, which scrolls sideways where it is too wide. Its children are the rows.

import type { ComponentChildren } from 'preact'

interface PlainTableProps {
  readonly titles: readonly string[]
  readonly children: ComponentChildren
}

export const PlainTable = ({ titles, children }: PlainTableProps) => (
  <section class="scroller" tabIndex={0} aria-label={titles.join(', ')}>
    <table class="plain">
      <thead>
        <tr>
          {titles.map((title) => (
            <th scope="col" key={title}>
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </section>
)
