// OpenAPI descriptions of types and fields. Those without a written description are described by the words of their name.

import { commonFields } from './common-fields.js'
import { coreKindFields } from './core-kind-fields.js'
import { kindDescriptions } from './kind-descriptions.js'
import { metaFields } from './meta-fields.js'
import { podFields } from './pod-fields.js'
import { resourceFields } from './resource-fields.js'

type FieldTables = { readonly [type: string]: { readonly [field: string]: string } }

/** Tables in the order of lookup; each type is in one of them. */
const fieldTables: readonly FieldTables[] = [metaFields, coreKindFields, podFields, resourceFields]

export function describeType(type: string, field?: string): string {
  return field === undefined ? descriptionOfType(type) : descriptionOfField(type, field)
}

const has = (table: object, name: string): boolean => Object.hasOwn(table, name)

function descriptionOfType(type: string): string {
  if (has(kindDescriptions, type)) return kindDescriptions[type] as string
  for (const [ending, sentence] of endings) {
    if (type.endsWith(ending) && type !== ending) return sentence(wordsOf(type.slice(0, -ending.length)))
  }
  return `${capitalized(wordsOf(type))}.`
}

const capitalized = (words: string): string => words.charAt(0).toUpperCase() + words.slice(1)

const withArticle = (words: string): string => `${/^[aeioAEIO]/.test(words) ? 'an' : 'a'} ${words}`

const endings: readonly (readonly [string, (rest: string) => string])[] = [
  ['List', (rest) => `List of objects of the kind ${rest}.`],
  ['Spec', (rest) => `Desired state of ${withArticle(rest)}.`],
  ['Status', (rest) => `Observed state of ${withArticle(rest)}.`],
  ['Condition', (rest) => `Condition of ${withArticle(rest)}.`],
  ['PersistentVolumeSource', (rest) => `Source of a persistent volume: ${rest}.`],
  ['VolumeSource', (rest) => `Source of a volume: ${rest}.`],
  ['Projection', (rest) => `Projection of ${withArticle(rest)} into a volume.`],
  ['Selector', (rest) => `Selector: ${rest}.`],
  ['Reference', (rest) => `Reference: ${rest}.`],
  ['MetricSource', (rest) => `Source of ${withArticle(rest)} metric.`],
]

function descriptionOfField(type: string, field: string): string {
  for (const table of fieldTables) {
    const fields = has(table, type) ? table[type] : undefined
    if (fields !== undefined && has(fields, field)) return fields[field] as string
  }
  return has(commonFields, field) ? (commonFields[field] as string) : `${capitalized(wordsOf(field))} of the ${wordsOf(type)}.`
}

function wordsOf(name: string): string {
  const parts = name.split(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z]{2})|[^A-Za-z0-9]+/).filter((part) => part !== '')
  return parts.map((part) => (/^[A-Z][a-z]/.test(part) ? part.toLowerCase() : part)).join(' ')
}
