// Rules of roles as rows: one for each resource and each path, in the order in which the original's command line shows them.

import { compareText } from '../base/text-order.js'

export interface AccessRule {
  readonly verbs?: readonly string[]
  readonly apiGroups?: readonly string[]
  readonly resources?: readonly string[]
  readonly resourceNames?: readonly string[]
  readonly nonResourceURLs?: readonly string[]
}

export const ruleHeaders = ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'] as const

interface Single {
  readonly group: string
  readonly resource: string
  readonly names: readonly string[]
  readonly path: string
  readonly verbs: string[]
}

const list = (texts: readonly string[] = []): string => `[${texts.join(' ')}]`

export function ruleRows(rules: readonly AccessRule[]): readonly (readonly string[])[] {
  const singles = [...joined(rules.flatMap(singlesOf))]
  return singles
    .map((one) => ({ one, key: keyOf(one) }))
    .sort((a, b) => compareText(a.key, b.key))
    .map(({ one: { group, resource, names, path, verbs } }) => [
      group === '' ? resource : resource.replace(/^[^/]*/, (name) => `${name}.${group}`),
      list(path === '' ? [] : [path]),
      list(names),
      list(verbs),
    ])
}

function singlesOf({
  verbs = [],
  apiGroups = [],
  resources = [],
  resourceNames = [],
  nonResourceURLs = [],
}: AccessRule): readonly Single[] {
  const of = (part: Partial<Single>): Single => ({ group: '', resource: '', names: [], path: '', verbs: [...verbs], ...part })
  return [
    ...apiGroups.flatMap((group) => resources.map((resource) => of({ group, resource, names: resourceNames }))),
    ...nonResourceURLs.map((path) => of({ path })),
  ]
}

/** What several rules allow with the same resource is told once. */
function joined(singles: readonly Single[]): Iterable<Single> {
  const byResource = new Map<string, Single>()
  for (const [i, one] of singles.entries()) {
    const key = one.path === '' ? JSON.stringify([one.group, one.resource, one.names]) : `path ${i}`
    const known = byResource.get(key)
    if (known === undefined) byResource.set(key, one)
    else known.verbs.push(...one.verbs.filter((verb) => !known.verbs.includes(verb)))
  }
  return byResource.values()
}

const keyOf = ({ group, resource, names, path, verbs }: Single): string =>
  `${list(verbs)},${list(group === '' ? [] : [group])},${list(resource === '' ? [] : [resource])},${list(names)},${list(path === '' ? [] : [path])}`
