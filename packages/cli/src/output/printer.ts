// What `-o` says: how objects are shown to whoever asked for them.

import { readFileSync } from 'node:fs'
import type { ApiObject } from '../../client/objects.js'
import { Failure } from '../failure.js'
import { alignRows, columnsOfFile, type NamedColumns, namedColumns } from './columns.js'
import { jsonText, listOf, withoutOwners, yamlText } from './documents.js'
import { parseGoTemplate } from './go-template/parse.js'
import { fillGoTemplate } from './go-template/run.js'
import { fillTemplate, parseTemplate, templateValues } from './json-path.js'
import { outputOf, type PrintFlagValues } from './print-flags.js'

/** One form of output. Undefined stands for tables, which the server makes. */
export interface Printer {
  /** Whole objects are needed. */
  print(objects: readonly ApiObject[], isList: boolean): string
}

export interface PrintOptions {
  readonly flags: PrintFlagValues
  /** With `-o name`: how the resource of an object is called, with its group. */
  readonly nameOf: (object: ApiObject) => string
  readonly noHeaders?: boolean
}

const forms =
  'custom-columns|custom-columns-file|go-template|go-template-file|json|jsonpath|jsonpath-as-json|jsonpath-file|name|template|templatefile|wide|yaml'

export function printerFor(options: PrintOptions): Printer {
  const { flags, nameOf } = options
  const output = outputOf(flags)
  const equals = output.indexOf('=')
  const [form, rest] = equals < 0 ? [output, flags.template ?? ''] : [output.slice(0, equals), output.slice(equals + 1)]
  const shown = (objects: readonly ApiObject[]): readonly ApiObject[] =>
    flags['show-managed-fields'] === true ? objects : objects.map(withoutOwners)
  const whole = (objects: readonly ApiObject[], isList: boolean): unknown => (isList ? listOf(objects) : objects[0])
  const allowsMissing = flags['allow-missing-template-keys'] ?? true
  switch (form) {
    case 'json':
      return { print: (objects, isList) => jsonText(whole(shown(objects), isList)) }
    case 'yaml':
      return { print: (objects, isList) => yamlText(whole(shown(objects), isList)) }
    case 'name':
      return { print: (objects) => objects.map((object) => `${nameOf(object)}\n`).join('') }
    case 'jsonpath':
    case 'jsonpath-file': {
      const text = templateText(rest, form === 'jsonpath-file')
      const template = parseTemplate(text)
      return { print: (objects, isList) => told('jsonpath', text, () => fillTemplate(template, whole(objects, isList), { allowsMissing })) }
    }
    case 'jsonpath-as-json': {
      const text = templateText(rest, false)
      const template = parseTemplate(text)
      return {
        print: (objects, isList) =>
          told('jsonpath', text, () => jsonText(templateValues(template, whole(objects, isList), { allowsMissing }))),
      }
    }
    case 'go-template':
    case 'go-template-file':
    case 'template':
    case 'templatefile': {
      const text = templateText(rest, form.endsWith('file'))
      const template = parsed(text)
      return {
        print: (objects, isList) => told('template', text, () => fillGoTemplate(template, whole(objects, isList), { allowsMissing })),
      }
    }
    case 'custom-columns':
      return columnPrinter(namedColumns(rest), options)
    case 'custom-columns-file':
      return columnPrinter(columnsOfFile(readFileSync(rest, 'utf8')), options)
    default:
      throw new Failure(`unable to match a printer suitable for the output format "${form}", allowed formats are: ${forms}`)
  }
}

function templateText(text: string, isFile: boolean): string {
  if (text === '') throw new Failure('template format specified but no template given')
  return isFile ? readFileSync(text, 'utf8') : text
}

function parsed(text: string): ReturnType<typeof parseGoTemplate> {
  try {
    return parseGoTemplate(text)
  } catch (thrown) {
    throw thrown instanceof Failure ? new Failure(`error parsing template ${text}, ${thrown.message}`) : thrown
  }
}

function told(what: string, text: string, print: () => string): string {
  try {
    return print()
  } catch (thrown) {
    throw thrown instanceof Failure ? new Failure(`error executing ${what} ${JSON.stringify(text)}: ${thrown.message}`) : thrown
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
