// What `-o` says: how objects are shown to whoever asked for them.

import { readFileSync } from 'node:fs'
import type { ApiObject } from '../../client/objects.js'
import { Failure } from '../failure.js'
import { alignRows, columnsOfFile, type NamedColumns, namedColumns } from './columns.js'
import { jsonText, listOf, withoutOwners, yamlText } from './documents.js'
import { fillTemplate, follow, parsePath, parseTemplate } from './json-path.js'

/** One form of output. Undefined stands for tables, which the server makes. */
export interface Printer {
  /** Whole objects are needed. */
  print(objects: readonly ApiObject[], isList: boolean): string
}

export interface PrintOptions {
  readonly output: string | undefined
  /** With `-o name`: how the resource of an object is called, with its group. */
  readonly nameOf: (object: ApiObject) => string
  readonly noHeaders?: boolean
  readonly showManagedFields?: boolean
}

const forms = 'json|yaml|name|wide|jsonpath|jsonpath-as-json|jsonpath-file|custom-columns|custom-columns-file'

export const isTable = (output: string | undefined): boolean => output === undefined || output === '' || output === 'wide'

export function printerFor(options: PrintOptions): Printer {
  const { output = '', nameOf, showManagedFields = false } = options
  const equals = output.indexOf('=')
  const [form, rest] = equals < 0 ? [output, ''] : [output.slice(0, equals), output.slice(equals + 1)]
  const shown = (objects: readonly ApiObject[]): readonly ApiObject[] => (showManagedFields ? objects : objects.map(withoutOwners))
  const whole = (objects: readonly ApiObject[], isList: boolean): unknown => (isList ? listOf(shown(objects)) : shown(objects)[0])
  switch (form) {
    case 'json':
      return { print: (objects, isList) => jsonText(whole(objects, isList)) }
    case 'yaml':
      return { print: (objects, isList) => yamlText(whole(objects, isList)) }
    case 'name':
      return { print: (objects) => objects.map((object) => `${nameOf(object)}\n`).join('') }
    case 'jsonpath':
    case 'jsonpath-file': {
      const template = parseTemplate(form === 'jsonpath' ? rest : readFileSync(rest, 'utf8'))
      return { print: (objects, isList) => fillTemplate(template, whole(objects, isList)) }
    }
    case 'jsonpath-as-json': {
      const steps = parsePath(rest.replace(/^\{/, '').replace(/\}$/, '').replace(/^[$@]/, ''))
      return { print: (objects, isList) => jsonText(follow(steps, whole(objects, isList))) }
    }
    case 'custom-columns':
      return columnPrinter(namedColumns(rest), options)
    case 'custom-columns-file':
      return columnPrinter(columnsOfFile(readFileSync(rest, 'utf8')), options)
    default:
      throw new Failure(`unable to match a printer suitable for the output format "${form}", allowed formats are: ${forms}`)
  }
}

function columnPrinter({ headers, rowOf }: NamedColumns, { noHeaders = false }: PrintOptions): Printer {
  const widths: number[] = []
  let isFirst = !noHeaders
  return {
    print: (objects) => {
      const rows = [...(isFirst ? [headers] : []), ...objects.map(rowOf)]
      isFirst = false
      return alignRows(rows, widths)
    },
  }
}
