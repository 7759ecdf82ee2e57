// Flags of `get`, shared by its tables, documents and watches.

import type { CommandContext } from '../../command-line/command.js'
import type { FlagTable } from '../../command-line/flags.js'
import { chunkFlags, fileFlags, selectFlags } from '../../objects/object-arguments.js'
import { rawFlags } from '../../objects/raw-request.js'
import { printFlags } from '../../output/print-flags.js'

export const getFlags = {
  ...fileFlags,
  ...selectFlags,
  ...printFlags,
  output: { ...printFlags.output, help: `wide, ${printFlags.output.help}` },
  watch: { kind: 'switch', short: 'w', help: 'print changes until interrupted' },
  'watch-only': { kind: 'switch', help: 'print only changes' },
  'output-watch-events': { kind: 'switch', help: 'show the event type in each line' },
  'show-labels': { kind: 'switch', help: 'show labels as the last column' },
  'label-columns': { kind: 'list', short: 'L', help: 'labels to show as columns' },
  'no-headers': { kind: 'switch', help: 'omit the header' },
  'show-kind': { kind: 'switch', help: 'prefix names with the kind' },
  'sort-by': { kind: 'text', help: 'field to sort by, such as .metadata.name' },
  'ignore-not-found': { kind: 'switch', help: 'missing objects are not an error' },
  ...chunkFlags,
  subresource: { kind: 'text', help: 'subresource: status or scale' },
  'server-print': { kind: 'switch', initial: 'true', help: 'false: show only names and ages' },
  ...rawFlags,
} as const satisfies FlagTable

export type GetContext = CommandContext<typeof getFlags>

export const selectionOf = ({ flags }: GetContext) => ({
  ...(flags.selector === undefined ? {} : { labelSelector: flags.selector }),
  ...(flags['field-selector'] === undefined ? {} : { fieldSelector: flags['field-selector'] }),
})
