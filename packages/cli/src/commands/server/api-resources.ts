// Shows what the server serves.

import { compareText } from '../../base/text-order.js'
import { apiVersionOf } from '../../client/resource-ref.js'
import { defineCommand } from '../command.js'
import { UsageError } from '../flags.js'
import { alignRows, headerRow } from '../output/columns.js'

export const command = defineCommand({
  usage: 'api-resources [flags]',
  about: 'show what the server serves',
  flags: {
    output: { kind: 'text', short: 'o', help: 'wide or name' },
    namespaced: { kind: 'text', bare: 'true', help: 'true: only what is in namespaces; false: only what is not' },
    'api-group': { kind: 'text', help: 'only of this group' },
    verbs: { kind: 'list', help: 'only what all of these can be done with' },
    categories: { kind: 'list', help: 'only what is in all of these categories' },
    'no-headers': { kind: 'switch', help: 'no line with the names of columns' },
    'sort-by': { kind: 'text', help: 'name or kind' },
    cached: { kind: 'switch', help: 'as it was some minutes ago' },
  },
  takesNoWords: true,
  run: async ({ flags, session, io }) => {
    if (flags.output !== undefined && !['wide', 'name', ''].includes(flags.output))
      throw new UsageError(`--output ${flags.output} is not available`)
    const by = flags['sort-by']
    if (by !== undefined && !['', 'name', 'kind'].includes(by)) throw new UsageError('--sort-by accepts only name or kind')
    const { resources, failures } = flags.cached ? await session.resources.all() : await session.resources.refreshed()
    const chosen = resources
      .filter(({ isPreferred }) => isPreferred)
      .filter(({ namespaced }) => flags.namespaced === undefined || namespaced === (flags.namespaced === 'true'))
      .filter(({ group }) => flags['api-group'] === undefined || group === flags['api-group'])
      .filter(({ verbs }) => flags.verbs.every((verb) => verbs.includes(verb)))
      .filter(({ categories }) => flags.categories.every((category) => categories.includes(category)))
    const sorted = chosen.toSorted((a, b) =>
      by === 'name'
        ? compareText(a.resource, b.resource)
        : by === 'kind'
          ? compareText(a.kind, b.kind)
          : compareText(a.group, b.group) || compareText(a.resource, b.resource),
    )
    if (flags.output === 'name') io.out(sorted.map(({ resource, group }) => `${resource}${group === '' ? '' : `.${group}`}\n`).join(''))
    else {
      const wide = flags.output === 'wide'
      const rows = sorted.map(({ resource, shortNames, group, version, namespaced, kind, verbs, categories }) => [
        resource,
        shortNames.join(','),
        apiVersionOf(group, version),
        String(namespaced),
        kind,
        ...(wide ? [verbs.join(','), categories.join(',')] : []),
      ])
      const headers = ['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND', ...(wide ? ['VERBS', 'CATEGORIES'] : [])]
      io.out(alignRows([...(flags['no-headers'] ? [] : [headerRow(headers, io.style)]), ...rows]))
    }
    for (const { apiVersion, error } of failures)
      io.err(`error: unable to retrieve ${apiVersion}: ${error instanceof Error ? error.message : String(error)}\n`)
    return failures.length === 0 ? 0 : 1
  },
})
