// Which labels an agent may put on its own node: its own and those of others, but none by which the system would send it work.

import type { Identity } from '../api/identity.js'
import { compareText } from '../base/text-order.js'

type Labels = { readonly [name: string]: string }

/** The labels that differ and that an agent may not change, in order. */
export function forbiddenLabels(next: Labels | undefined, old: Labels | undefined, identity: Identity): readonly string[] {
  const names = new Set([...Object.keys(next ?? {}), ...Object.keys(old ?? {})])
  return [...names].filter((name) => next?.[name] !== old?.[name] && isForbidden(name, identity)).sort(compareText)
}

const domainOf = (name: string): string => (name.includes('/') ? name.slice(0, name.indexOf('/')) : '')

const isIn = (domain: string, wanted: string): boolean => domain === wanted || domain.endsWith(`.${wanted}`)

function isForbidden(name: string, identity: Identity): boolean {
  const domain = domainOf(name)
  const own = (subdomain: string): string => domainOf(identity.label('', subdomain))
  if (isIn(domain, own('node-restriction'))) return true
  const isOfSystem = isIn(domain, domainOf(identity.label(''))) || isIn(domain, identity.groupSuffix)
  return isOfSystem && !isIn(domain, own('kubelet')) && !isIn(domain, own('node')) && !agentLabels(identity).includes(name)
}

const agentLabels = (identity: Identity): readonly string[] => [
  ...['hostname', 'os', 'arch'].map((name) => identity.label(name)),
  ...['zone', 'region'].flatMap((name) => [identity.label(name, 'topology'), identity.label(name, 'failure-domain.beta')]),
  ...['instance-type', 'os', 'arch'].map((name) => identity.label(name, 'beta')),
  identity.label('instance-type', 'node'),
]
