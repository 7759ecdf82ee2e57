// Rules of roles from flags: what may be done, with what.

import type { Work } from './command.js'
import { createFlags } from './create-one.js'
import { type FlagTable, UsageError } from './flags.js'

export const ruleFlags = {
  ...createFlags,
  verb: { kind: 'list', help: 'what may be done' },
  resource: { kind: 'list', help: 'with what' },
  'resource-name': { kind: 'texts', help: 'and with which ones of them' },
} as const satisfies FlagTable

const standard = 'get list watch create update patch delete deletecollection use bind impersonate escalate approve sign * proxy'.split(' ')

export async function rulesOf({ flags, session, io }: Work<typeof ruleFlags>): Promise<readonly object[]> {
  const verbs = verbsOf(flags.verb)
  if (flags.resource.length === 0 && flags['resource-name'].length > 0) throw new UsageError('at least one resource must be specified')
  const byGroup = new Map<string, Set<string>>()
  for (const text of flags.resource) {
    const [words = '', subresource] = text.split('/')
    const { group, resource } = words === '*' ? { group: '', resource: '*' } : await session.resources.find(words)
    byGroup.set(group, (byGroup.get(group) ?? new Set()).add(subresource === undefined ? resource : `${resource}/${subresource}`))
  }
  for (const verb of byGroup.size === 0 ? [] : verbs)
    if (!standard.includes(verb)) io.err(`${io.style.yellow('Warning:')} '${verb}' is not a standard resource verb\n`)
  const names = flags['resource-name'].length === 0 ? {} : { resourceNames: [...new Set(flags['resource-name'])] }
  return [...byGroup].map(([group, resources]) => ({ apiGroups: [group], ...names, resources: [...resources], verbs }))
}

/** Each once; all is all. */
export function verbsOf(given: readonly string[]): readonly string[] {
  if (given.length === 0) throw new UsageError('at least one verb must be specified')
  return given.includes('*') ? ['*'] : [...new Set(given)]
}
