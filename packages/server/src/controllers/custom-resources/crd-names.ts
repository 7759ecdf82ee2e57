// Accepts each name of a CustomResourceDefinition that no other CRD of its group uses.

import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '@cluster-apiserver/api/resources/apiextensions/v1.schema.js'

type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>

interface Acceptance {
  readonly names: CustomResourceDefinitionNames
  readonly namesAccepted: Condition
  readonly established: Condition
}

interface NamesInUse {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

function namesUsedBy(others: readonly (CustomResourceDefinitionNames | undefined)[]): NamesInUse {
  const resources = new Set<string>()
  const kinds = new Set<string>()
  for (const names of others) {
    const { plural, singular, shortNames = [], kind, listKind } = names ?? {}
    for (const name of [plural, singular, ...shortNames]) if (name) resources.add(name)
    for (const name of [kind, listKind]) if (name) kinds.add(name)
  }
  return { resources, kinds }
}

const conflict = (reason: string, names: readonly string[]): Condition => {
  const messages = names.map((name) => `${JSON.stringify(name)} is already in use`)
  const message = messages.length > 1 ? `[${messages.join(', ')}]` : (messages[0] ?? '')
  return { type: 'NamesAccepted', status: 'False', reason, message }
}

/** Built-in groups accept no custom kinds, which could replace built-in kinds and their validation. */
export function refuseNames({ spec, status }: CustomResourceDefinition): Acceptance {
  const namesAccepted: Condition = {
    type: 'NamesAccepted',
    status: 'False',
    reason: 'GroupConflict',
    message: `the group ${JSON.stringify(spec?.group ?? '')} is one of the server itself`,
  }
  const established: Condition = { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  return { names: { ...status?.acceptedNames }, namesAccepted, established }
}

export function acceptNames(
  crd: CustomResourceDefinition,
  others: () => readonly (CustomResourceDefinitionNames | undefined)[],
): Acceptance {
  const wanted = crd.spec?.names ?? {}
  const current = crd.status?.acceptedNames ?? {}
  let cached: NamesInUse | undefined
  const inUse = (): NamesInUse => {
    cached ??= namesUsedBy(others())
    return cached
  }
  const names: { -readonly [Name in keyof CustomResourceDefinitionNames]: CustomResourceDefinitionNames[Name] } = { ...current }
  let problem: Condition | undefined
  const accept = (name: 'plural' | 'singular' | 'kind' | 'listKind', nameType: keyof NamesInUse, reason: string): void => {
    const text = wanted[name] ?? ''
    if (text !== (current[name] ?? '') && inUse()[nameType].has(text)) problem = conflict(reason, [text])
    else names[name] = text
  }
  // The stored status has no empty lists; keeping one here would cause a write on every reconcile.
  const setList = (name: 'shortNames' | 'categories', all: readonly string[]): void => {
    if (all.length > 0) names[name] = all
    else delete names[name]
  }
  accept('plural', 'resources', 'PluralConflict')
  accept('singular', 'resources', 'SingularConflict')
  const shortNames = wanted.shortNames ?? []
  const clashing = shortNames.filter((name) => !(current.shortNames ?? []).includes(name) && inUse().resources.has(name))
  if (clashing.length > 0) problem = conflict('ShortNamesConflict', clashing)
  else setList('shortNames', shortNames)
  accept('kind', 'kinds', 'KindConflict')
  accept('listKind', 'kinds', 'ListKindConflict')
  setList('categories', wanted.categories ?? [])
  const namesAccepted = problem ?? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  return { names, namesAccepted, established: establishedBy(crd, namesAccepted) }
}

/** An established CRD stays established with its previous names. */
function establishedBy({ status }: CustomResourceDefinition, { status: accepted }: Condition): Condition {
  const before = status?.conditions?.find(({ type }) => type === 'Established')
  if (before?.status === 'True') return before
  if (accepted !== 'True')
    return before ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
}
