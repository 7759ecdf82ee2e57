// An object as an outline: names as people write them, one field in a line, lists below their names.

import { printable, printableLine } from '../../base/printable.js'
import { compareText } from '../../base/text-order.js'
import type { DynamicObject } from '../../client/objects.js'
import { plainStyle, type Style } from '../io.js'
import { tellingOf } from './common.js'

const unit = '  '

export function outlineObject({ apiVersion, kind, metadata = {}, ...rest }: DynamicObject, style: Style = plainStyle): string {
  const { name, namespace, labels = {}, annotations = {}, managedFields: _, ...others } = metadata
  const pairs = (values: { readonly [key: string]: string }, separator: string): readonly string[] => {
    const lines = Object.entries(values)
      .sort(([a], [b]) => compareText(a, b))
      .map(
        ([key, value]) =>
          `${printableLine(key)}${separator}${value.length > 140 || value.includes('\n') ? `\n${indent(value, unit.repeat(2))}` : value}`,
      )
    return lines.length === 0 ? ['<none>'] : lines
  }
  const head: readonly (readonly [string, readonly string[]])[] = [
    ['Name', [name ?? '']],
    ...(namespace === undefined ? [] : [['Namespace', [namespace]] as const]),
    ['Labels', pairs(labels, '=')],
    ['Annotations', pairs(tellingOf(annotations), ': ')],
    ['API Version', [apiVersion ?? '']],
    ['Kind', [kind ?? '']],
  ]
  const width = Math.max(...head.map(([title]) => title.length)) + 3
  const lines = head.flatMap(([title, values]) =>
    values.map(
      (value, i) => `${i === 0 ? style.bold(`${title}:`) + ' '.repeat(width - title.length - 1) : ' '.repeat(width)}${printable(value)}\n`,
    ),
  )
  return lines.join('') + outline({ metadata: others, ...rest }, '', style)
}

function outline(value: object, prefix: string, style: Style): string {
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined && member !== null)
    .sort(([a], [b]) => compareText(a, b))
  const scalars = entries.filter(([, member]) => typeof member !== 'object')
  const width = Math.max(0, ...scalars.map(([name]) => titleOf(name).length)) + 3
  let text = ''
  for (const [name, member] of entries) {
    const title = titleOf(name)
    const shown = prefix === '' ? style.bold(`${title}:`) : `${title}:`
    if (typeof member !== 'object') {
      const one = printable(String(member))
      text += one.includes('\n')
        ? `${prefix}${shown}\n${indent(one, prefix + unit)}\n`
        : `${prefix}${shown}${' '.repeat(width - title.length - 1)}${one}\n`
    } else if (Array.isArray(member)) text += `${prefix}${shown}\n${listText(member, prefix + unit, style)}`
    else text += `${prefix}${shown}\n${outline(member as object, prefix + unit, style)}`
  }
  return text
}

function listText(list: readonly unknown[], prefix: string, style: Style): string {
  return list
    .map((item) => {
      if (typeof item !== 'object' || item === null) return `${prefix}${printableLine(String(item))}\n`
      // The first field stands behind a dash.
      const inner = Array.isArray(item) ? listText(item, `${prefix}${unit}`, style) : outline(item, `${prefix}${unit}`, style)
      return `${prefix}- ${inner.slice(prefix.length + unit.length)}`
    })
    .join('')
}

const indent = (text: string, prefix: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `${prefix}${line}`)
    .join('\n')

/** `creationTimestamp` to `Creation Timestamp`; what is no name of a field stays as it is. */
function titleOf(name: string): string {
  if (name === 'uid') return 'UID'
  if (!/^[a-z][A-Za-z0-9]*$/.test(name)) return printableLine(name)
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
  return words[0]?.toUpperCase() + words.slice(1)
}
