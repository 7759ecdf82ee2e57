// `api-resources` and `api-versions`.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { compareText, sortTexts } from '@cluster-apiserver/api/base/text-order.js'
import { apiVersionOf } from '@cluster-apiserver/client/requests/resource-ref.js'
import { defineCommand } from '../../command-line/command.js'
import { UsageError } from '../../command-line/flags.js'
import { alignRows, headerRow } from '../../output/columns.js'

export const apiResources = defineCommand({
  usage: 'api-resources [flags]',
  flags: {
    output: { kind: 'text', short: 'o', help: 'wide or name' },
    namespaced: { kind: 'text', bare: 'true', help: 'true: only namespaced resources; false: only cluster-scoped ones' },
    'api-group': { kind: 'text', help: 'only this API group' },
    verbs: { kind: 'list', help: 'only resources with all these verbs' },
    categories: { kind: 'list', help: 'only resources in all these categories' },
    'no-headers': { kind: 'switch', help: 'omit the header' },
    'sort-by': { kind: 'text', help: 'name or kind' },
    cached: { kind: 'switch', help: 'use the discovery cache' },
  },
  takesNoArguments: true,
  run: async ({ flags, session, io }) => {
    if (flags.output !== undefined && !['wide', 'name', ''].includes(flags.output))
      throw new UsageError(`--output ${flags.output} is not available`)
    const sortBy = flags['sort-by']
    if (sortBy !== undefined && !['', 'name', 'kind'].includes(sortBy)) throw new UsageError('--sort-by accepts only name or kind')
    const { resources, failures } = flags.cached ? await session.resources.all() : await session.resources.refresh()
    const selected = resources
      .filter(({ isPreferred }) => isPreferred)
      .filter(({ namespaced }) => flags.namespaced === undefined || namespaced === (flags.namespaced === 'true'))
      .filter(({ group }) => flags['api-group'] === undefined || group === flags['api-group'])
      .filter(({ verbs }) => flags.verbs.every((verb) => verbs.includes(verb)))
      .filter(({ categories }) => flags.categories.every((category) => categories.includes(category)))
    const sorted = selected.toSorted((a, b) =>
      sortBy === 'name'
        ? compareText(a.resource, b.resource)
        : sortBy === 'kind'
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
    for (const { apiVersion, error } of failures) io.err(`error: unable to retrieve ${apiVersion}: ${errorMessage(error)}\n`)
    return failures.length === 0 ? 0 : 1
  },
})

export const apiVersions = defineCommand({
  usage: 'api-versions',
  flags: {},
  takesNoArguments: true,
  run: async ({ session, io }) => {
    const { apiVersions } = await session.resources.refresh()
    io.out(`${sortTexts([...apiVersions]).join('\n')}\n`)
    return 0
  },
})
