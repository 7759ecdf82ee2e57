// What is said about types and fields wherever they are published. Names that nobody described are put into words, so that a reader
// at least sees where they belong.

import { commonFields } from './common-fields.js'
import { kinds } from './kinds.js'
import { metaFields } from './meta-fields.js'
import { podFields } from './pod-fields.js'
import { resourceFields } from './resource-fields.js'
import { specifiedFields } from './specified-fields.js'

type FieldTables = { readonly [type: string]: { readonly [field: string]: string } }

/** In the order in which they are asked; a type stands in one of them. */
const ownFields: readonly FieldTables[] = [metaFields, specifiedFields, podFields, resourceFields]

/** One sentence about a type, or about one of its fields. */
export function describeType(type: string, field?: string): string {
  return field === undefined ? aboutType(type) : aboutField(type, field)
}

const has = (table: object, name: string): boolean => Object.hasOwn(table, name)

function aboutType(type: string): string {
  if (has(kinds, type)) return kinds[type] as string
  for (const [ending, sentence] of endings) {
    if (type.endsWith(ending) && type !== ending) return sentence(wordsOf(type.slice(0, -ending.length)))
  }
  return `The part of an object that is called ${wordsOf(type)}.`
}

const withArticle = (words: string): string => `${/^[aeioAEIO]/.test(words) ? 'an' : 'a'} ${words}`

/** The habits of the API in naming types. */
const endings: readonly (readonly [string, (rest: string) => string])[] = [
  ['List', (rest) => `A page of a collection of objects of the kind ${rest}.`],
  ['Spec', (rest) => `What is wanted of ${withArticle(rest)}.`],
  ['Status', (rest) => `What was last seen of ${withArticle(rest)}.`],
  ['Condition', (rest) => `One aspect of the state of ${withArticle(rest)}, and since when it is so.`],
  ['PersistentVolumeSource', (rest) => `Where the content of a volume that outlives pods lies: ${rest}.`],
  ['VolumeSource', (rest) => `Where the content of a volume lies: ${rest}.`],
  ['Projection', (rest) => `What a volume shows of ${withArticle(rest)}.`],
  ['Selector', (rest) => `Picks one part out: ${rest}.`],
  ['Reference', (rest) => `Names something else: ${rest}.`],
  ['MetricSource', (rest) => `How ${withArticle(rest)} metric is to be used.`],
]

function aboutField(type: string, field: string): string {
  for (const table of ownFields) {
    const fields = has(table, type) ? table[type] : undefined
    if (fields !== undefined && has(fields, field)) return fields[field] as string
  }
  return has(commonFields, field) ? (commonFields[field] as string) : `The ${wordsOf(field)} of the ${wordsOf(type)}.`
}

/** `podCIDRs` → `pod CIDRs`, `PodSpec` → `pod spec`. */
function wordsOf(name: string): string {
  const parts = name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|[^A-Za-z0-9]+/).filter((part) => part !== '')
  return parts.map((part) => (/^[A-Z][a-z]/.test(part) ? part.toLowerCase() : part)).join(' ')
}
