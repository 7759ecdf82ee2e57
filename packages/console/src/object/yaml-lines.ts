// The lines of an object as YAML, each with the path of its field: for folding, field managers, explanations and differences.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { compareText } from '@cluster-apiserver/api/base/text-order.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'

export type FieldPath = readonly (string | number)[]

export interface YamlLine {
  readonly indent: number
  /** `- ` once for each sequence that begins on the line. */
  readonly dashes: string
  /** Undefined for items of a list, and for further lines of a text. */
  readonly key: string | undefined
  readonly value: string
  readonly path: FieldPath
  /** Index after the last line of the field. */
  end: number
}

type Members = { readonly [key: string]: Json }

const isList = (value: Json): value is readonly Json[] => Array.isArray(value)
const isMembers = (value: Json): value is Members => typeof value === 'object' && value !== null && !isList(value)

export function yamlLines(object: Json): YamlLine[] {
  const lines: YamlLine[] = []
  if (isMembers(object)) writeMembers(lines, object, { indent: 0, dashes: '', path: [] })
  return lines
}

interface Position {
  readonly indent: number
  readonly dashes: string
  readonly path: FieldPath
}

function writeMembers(lines: YamlLine[], members: Members, { indent, dashes, path }: Position): void {
  const keys = Object.keys(members).sort(compareText)
  for (const [i, key] of keys.entries()) {
    const isFirst = i === 0 && dashes !== ''
    const position = { indent: isFirst ? indent - dashes.length : indent, dashes: isFirst ? dashes : '', path: [...path, key] }
    writeField(lines, scalarText(key), members[key] ?? null, { ...position, childIndent: indent })
  }
}

function writeField(
  lines: YamlLine[],
  key: string,
  value: Json,
  { childIndent, ...position }: Position & { readonly childIndent: number },
): void {
  const line: YamlLine = { ...position, key, value: '', end: 0 }
  lines.push(line)
  if (isList(value) && value.length > 0) writeItems(lines, value, { indent: childIndent, dashes: '', path: position.path })
  else if (isMembers(value) && Object.keys(value).length > 0)
    writeMembers(lines, value, { indent: childIndent + 2, dashes: '', path: position.path })
  else writeScalarLines(lines, value, { ...position, indent: childIndent + 2 })
  line.end = lines.length
}

function writeItems(lines: YamlLine[], items: readonly Json[], { indent, dashes, path }: Position): void {
  for (const [i, item] of items.entries()) {
    const isFirst = i === 0 && dashes !== ''
    const own = `${isFirst ? dashes : ''}- `
    const position = { indent: indent + 2, dashes: own, path: [...path, i] }
    const begin = lines.length
    if (isMembers(item) && Object.keys(item).length > 0) writeMembers(lines, item, position)
    else if (isList(item) && item.length > 0) writeItems(lines, item, position)
    else {
      lines.push({ indent: position.indent - own.length, dashes: own, key: undefined, value: '', path: position.path, end: 0 })
      writeScalarLines(lines, item, position)
      ;(lines[begin] as YamlLine).end = lines.length
    }
  }
}

/** Adds the value to the last line, and further lines for a text with line breaks. */
function writeScalarLines(lines: YamlLine[], value: Json, { indent, path }: { readonly indent: number; readonly path: FieldPath }): void {
  const [first = '', ...rest] = scalarText(value).split('\n')
  const last = lines.pop() as YamlLine
  lines.push(Object.assign(last, { value: first }))
  for (const text of rest)
    lines.push({
      indent: text === '' ? 0 : indent,
      dashes: '',
      key: undefined,
      value: text.replace(/^ {2}/, ''),
      path,
      end: lines.length + 1,
    })
}

const scalarText = (value: Json): string => writeYaml(value).replace(/\n$/, '')

export const lineText = ({ indent, dashes, key, value }: YamlLine): string =>
  `${' '.repeat(indent)}${dashes}${key === undefined ? '' : value === '' ? `${key}:` : `${key}: `}${value}`
