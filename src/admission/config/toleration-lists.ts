// The configuration of PodTolerationRestriction: the tolerations that pods get, and those that they may have, where their namespace says nothing.

import { validateTolerations } from '../../resources/core/pod-spec/tolerations.js'
import type { Toleration } from '../../resources/core/v1.schema.js'
import type { ConfigContext } from './admission-config.js'
import { checkKind, type Fields, integerOf, listOf, mappingOf, onlyFields, textOf } from './fields.js'

export interface TolerationLists {
  readonly defaults: readonly Toleration[]
  /** Empty: all. */
  readonly allowed: readonly Toleration[]
}

export const noTolerationLists: TolerationLists = { defaults: [], allowed: [] }

const kinds = [{ kind: 'Configuration', group: { stem: 'podtolerationrestriction.admission' }, versions: ['v1alpha1'] }]

export function parseTolerationLists(value: unknown, { identity, where }: ConfigContext): TolerationLists {
  const fields = mappingOf(value, where)
  checkKind(fields, kinds, { identity, where, known: ['default', 'whitelist'] })
  return { defaults: tolerationsOf(fields, 'default', where), allowed: tolerationsOf(fields, 'whitelist', where) }
}

function tolerationsOf(fields: Fields, name: string, where: string): readonly Toleration[] {
  const place = where === '' ? name : `${where}.${name}`
  const tolerations = listOf(fields, name, where).map((each, i) => tolerationOf(each, `${place}[${i}]`))
  const [first] = validateTolerations(tolerations, place)
  if (first !== undefined) throw new Error(`${first.field}: ${first.message}`)
  return tolerations
}

function tolerationOf(value: unknown, where: string): Toleration {
  const fields = mappingOf(value, where)
  onlyFields(fields, ['key', 'operator', 'value', 'effect', 'tolerationSeconds'], where)
  const texts = (['key', 'operator', 'value', 'effect'] as const).flatMap((name) => {
    const text = textOf(fields, name, where)
    return text === undefined ? [] : [[name, text] as const]
  })
  const tolerationSeconds = integerOf(fields, 'tolerationSeconds', where)
  return { ...Object.fromEntries(texts), ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }) }
}
