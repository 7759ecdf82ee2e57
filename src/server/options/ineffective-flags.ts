// Flags that say how something is done which another flag asks for: without that one they have no effect, and the operator is told.

import type { FlagName } from './flag-table.js'
import type { ParsedFlags } from './parse-flags.js'

/** What asks for it, and how the names of the others begin. */
const groups: readonly { readonly asks: FlagName; readonly beginning: string }[] = [
  { asks: 'audit-log-path', beginning: 'audit-log-' },
  { asks: 'audit-webhook-config-file', beginning: 'audit-webhook-' },
  { asks: 'authentication-token-webhook-config-file', beginning: 'authentication-token-webhook-' },
  { asks: 'authorization-webhook-config-file', beginning: 'authorization-webhook-' },
  { asks: 'requestheader-client-ca-file', beginning: 'requestheader-' },
]

/** A sentence for each group. */
export function ineffectiveFlags({ given }: Pick<ParsedFlags, 'given'>): readonly string[] {
  return groups.flatMap(({ asks, beginning }) => {
    const names = given.has(asks) ? [] : [...given].filter((name) => name.startsWith(beginning))
    return names.length === 0 ? [] : [`${names.map((name) => `--${name}`).join(', ')}: no effect without --${asks}`]
  })
}
