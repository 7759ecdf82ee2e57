// YAML writer with the output of kube-apiserver: block style, sorted keys, sequences at the indentation of their key.

import type { Json } from '../../api/object.js'
import { beginText, indentation } from '../indentation.js'
import { compareKeys } from './key-order.js'
import { hasLineBreak, type ScalarPosition, writeScalar } from './write-scalar.js'

const indentUnit = 2
/** Longer keys, and keys with line breaks, are written after `?`. */
const maxSimpleKeyBytes = 128

/** Throws 406 if the text would have too much indentation. */
export function writeYaml(value: Json): string {
  beginText()
  if (isCollection(value)) return endLine(isEmpty(value) ? writeEmpty(value) : writeCollection(value, 0))
  return endLine(writeScalar(value, { column: 0, indent: 0, isKey: false }))
}

type Collection = readonly Json[] | { readonly [key: string]: Json }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isCollection = (value: Json): value is Collection => typeof value === 'object' && value !== null
const isEmpty = (value: Collection): boolean => (isList(value) ? value.length === 0 : Object.keys(value).length === 0)
const writeEmpty = (value: Collection): string => (isList(value) ? '[]' : '{}')

const endLine = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`)

/** Does not indent the first line, which may follow a dash. */
function writeCollection(value: Collection, indent: number): string {
  const entries = isList(value) ? value.map((item) => writeItem(item, indent)) : writeMembers(value, indent)
  const separator = indentation(indent, entries.length)
  return entries.map((entry, index) => (index === entries.length - 1 ? entry : endLine(entry))).join(separator)
}

function writeItem(item: Json, indent: number): string {
  return `- ${writeInline(item, { column: indent + 2, indent, isKey: false })}`
}

/** Writes a value after `-` or `:` on the same line. */
function writeInline(value: Json, position: ScalarPosition): string {
  if (!isCollection(value)) return writeScalar(value, position)
  return isEmpty(value) ? writeEmpty(value) : writeCollection(value, position.indent + indentUnit)
}

function writeMembers(value: { readonly [key: string]: Json }, indent: number): readonly string[] {
  return Object.keys(value)
    .filter((key) => value[key] !== undefined)
    .sort(compareKeys)
    .map((key) => writeMember(key, value[key] ?? null, indent))
}

function writeMember(key: string, value: Json, indent: number): string {
  if (hasLineBreak(key) || isLong(key)) {
    const inline: ScalarPosition = { column: indent + 2, indent, isKey: false }
    return `${endLine(`? ${writeScalar(key, inline)}`)}${' '.repeat(indent)}: ${writeInline(value, inline)}`
  }
  const name = `${writeScalar(key, { column: indent, indent, isKey: true })}:`
  if (!isCollection(value)) return `${name} ${writeScalar(value, { column: indent + [...name].length + 1, indent, isKey: false })}`
  if (isEmpty(value)) return `${name} ${writeEmpty(value)}`
  const inner = isList(value) ? indent : indent + indentUnit
  return `${name}\n${' '.repeat(inner)}${writeCollection(value, inner)}`
}

const isLong = (key: string): boolean =>
  key.length > maxSimpleKeyBytes || (key.length * 3 > maxSimpleKeyBytes && new TextEncoder().encode(key).length > maxSimpleKeyBytes)
