// The short format of the audit log: one line of words for people.

import type { EventFacts } from './record.js'

export function legacyLine(facts: EventFacts): string {
  const { user, impersonated } = facts
  const groups = user === undefined || user.groups.length === 0 ? '<none>' : texts(user.groups)
  const asGroups = impersonated === undefined ? '<lookup>' : texts(impersonated.groups)
  return (
    `${goTime(facts.receivedMs)} AUDIT: id=${text(facts.auditId)} stage=${text(facts.stage)} ip=${text(facts.sourceIps[0] ?? '<unknown>')}` +
    ` method=${text(facts.verb)} user=${text(user?.name || '<none>')} groups=${text(groups)}` +
    ` as=${text(impersonated?.name ?? '<self>')} asgroups=${text(asGroups)} user-agent=${text(facts.userAgent)}` +
    ` namespace=${text(facts.namespace || '<none>')} uri=${text(facts.uri)} response="${facts.code ?? '<deferred>'}"`
  )
}

const text = (value: string): string => JSON.stringify(value)
const texts = (values: readonly string[]): string => values.map(text).join(',')

/** Zeros at the end of a fraction are left out. */
const goTime = (ms: number): string => new Date(ms).toISOString().replace(/\.?0*Z$/, 'Z')
