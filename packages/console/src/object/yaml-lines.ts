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

/** Characters of indentation and steps of paths: an object of 800 kB that is nested deeply would have 700 million. */
const maxSize = 32 << 20

class Output {
  readonly lines: YamlLine[] = []
  private size = 0

  get isFull(): boolean {
    return this.size > maxSize
  }

  add(line: YamlLine): void {
    this.size += line.indent + line.path.length
    this.lines.push(line)
  }
}

export function yamlLines(object: Json): YamlLine[] {
  const output = new Output()
  if (isMembers(object)) writeMembers(output, object, { indent: 0, dashes: '', path: [] })
  const { lines, isFull } = output
  const value = '# the rest is not shown: too many lines are nested too deeply'
  return isFull ? [...lines, { indent: 0, dashes: '', key: undefined, value, path: [], end: lines.length + 1 }] : lines
}

interface Position {
  readonly indent: number
  readonly dashes: string
  readonly path: FieldPath
}

function writeMembers(output: Output, members: Members, { indent, dashes, path }: Position): void {
  const keys = Object.keys(members).sort(compareText)
  for (const [i, key] of keys.entries()) {
    if (output.isFull) return
    const isFirst = i === 0 && dashes !== ''
    const position = { indent: isFirst ? indent - dashes.length : indent, dashes: isFirst ? dashes : '', path: [...path, key] }
    writeField(output, scalarText(key), members[key] ?? null, { ...position, childIndent: indent })
  }
}

function writeField(
  output: Output,
  key: string,
  value: Json,
  { childIndent, ...position }: Position & { readonly childIndent: number },
): void {
  const line: YamlLine = { ...position, key, value: '', end: 0 }
  output.add(line)
  if (isList(value) && value.length > 0) writeItems(output, value, { indent: childIndent, dashes: '', path: position.path })
  else if (isMembers(value) && Object.keys(value).length > 0)
    writeMembers(output, value, { indent: childIndent + 2, dashes: '', path: position.path })
  else writeScalarLines(output, value, { ...position, indent: childIndent + 2 })
  line.end = output.lines.length
}

function writeItems(output: Output, items: readonly Json[], { indent, dashes, path }: Position): void {
  for (const [i, item] of items.entries()) {
    if (output.isFull) return
    const isFirst = i === 0 && dashes !== ''
    const own = `${isFirst ? dashes : ''}- `
    const position = { indent: indent + 2, dashes: own, path: [...path, i] }
    const begin = output.lines.length
    if (isMembers(item) && Object.keys(item).length > 0) writeMembers(output, item, position)
    else if (isList(item) && item.length > 0) writeItems(output, item, position)
    else {
      output.add({ indent: position.indent - own.length, dashes: own, key: undefined, value: '', path: position.path, end: 0 })
      writeScalarLines(output, item, position)
      ;(output.lines[begin] as YamlLine).end = output.lines.length
    }
  }
}

/** Adds the value to the last line, and further lines for a text with line breaks. */
function writeScalarLines(output: Output, value: Json, { indent, path }: { readonly indent: number; readonly path: FieldPath }): void {
  const [first = '', ...rest] = scalarText(value).split('\n')
  Object.assign(output.lines.at(-1) as YamlLine, { value: first })
  for (const text of rest) {
    if (output.isFull) return
    output.add({
      indent: text === '' ? 0 : indent,
      dashes: '',
      key: undefined,
      value: text.replace(/^ {2}/, ''),
      path,
      end: output.lines.length + 1,
    })
  }
}

const scalarText = (value: Json): string => writeYaml(value).replace(/\n$/, '')

export const lineText = ({ indent, dashes, key, value }: YamlLine): string =>
  `${' '.repeat(indent)}${dashes}${key === undefined ? '' : value === '' ? `${key}:` : `${key}: `}${value}`
