// Which names of a custom kind are accepted: those that no other kind of its group has.

import type {
  CustomResourceDefinition,
  CustomResourceDefinitionCondition,
  CustomResourceDefinitionNames,
} from '../../resources/apiextensions/v1.schema.js'

type Condition = Omit<CustomResourceDefinitionCondition, 'lastTransitionTime'>

export interface Acceptance {
  readonly names: CustomResourceDefinitionNames
  readonly namesAccepted: Condition
  readonly established: Condition
}

/** Names that kinds of a group have. */
interface Taken {
  readonly resources: ReadonlySet<string>
  readonly kinds: ReadonlySet<string>
}

function takenBy(others: readonly (CustomResourceDefinitionNames | undefined)[]): Taken {
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

/** A group of the server itself takes no kinds of others: they would stand in the place of its own, and of the rules about those. */
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

/** `others`: the names that were accepted of the other definitions of the group; only who wants a name that it does not have asks for them. */
export function acceptNames(
  definition: CustomResourceDefinition,
  others: () => readonly (CustomResourceDefinitionNames | undefined)[],
): Acceptance {
  const wanted = definition.spec?.names ?? {}
  const had = definition.status?.acceptedNames ?? {}
  let known: Taken | undefined
  const taken = (): Taken => {
    known ??= takenBy(others())
    return known
  }
  const names: { -readonly [Name in keyof CustomResourceDefinitionNames]: CustomResourceDefinitionNames[Name] } = { ...had }
  let problem: Condition | undefined
  const accept = (name: 'plural' | 'singular' | 'kind' | 'listKind', of: keyof Taken, reason: string): void => {
    const text = wanted[name] ?? ''
    if (text !== (had[name] ?? '') && taken()[of].has(text)) problem = conflict(reason, [text])
    else names[name] = text
  }
  // None are absent, as they are in what is stored: a status that differs is written again.
  const put = (name: 'shortNames' | 'categories', all: readonly string[]): void => {
    if (all.length > 0) names[name] = all
    else delete names[name]
  }
  accept('plural', 'resources', 'PluralConflict')
  accept('singular', 'resources', 'SingularConflict')
  const shortNames = wanted.shortNames ?? []
  const clashing = shortNames.filter((name) => !(had.shortNames ?? []).includes(name) && taken().resources.has(name))
  if (clashing.length > 0) problem = conflict('ShortNamesConflict', clashing)
  else put('shortNames', shortNames)
  accept('kind', 'kinds', 'KindConflict')
  accept('listKind', 'kinds', 'ListKindConflict')
  put('categories', wanted.categories ?? [])
  const namesAccepted = problem ?? { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' }
  return { names, namesAccepted, established: establishedBy(definition, namesAccepted) }
}

/** Once established, a kind stays so: its old names go on. */
function establishedBy({ status }: CustomResourceDefinition, { status: accepted }: Condition): Condition {
  const before = status?.conditions?.find(({ type }) => type === 'Established')
  if (before?.status === 'True') return before
  if (accepted !== 'True')
    return before ?? { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' }
  return { type: 'Established', status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
}
