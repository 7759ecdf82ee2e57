// Printers of the output formats of -o.

import { readFileSync } from 'node:fs'
import type { ApiObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError } from '../command-line/errors.js'
import { alignRows, columnsOfFile, type NamedColumns, namedColumns } from './columns.js'
import { jsonText, listOf, withoutManagedFields, yamlText } from './documents.js'
import { parseGoTemplate } from './go-template/parse.js'
import { fillGoTemplate } from './go-template/run.js'
import { fillTemplate, parseTemplate, templateValues } from './json-path.js'
import { outputOf, type PrintFlagValues } from './print-flags.js'

interface Printer {
  print(objects: readonly ApiObject[], isList: boolean): string
}

interface PrintOptions {
  readonly flags: PrintFlagValues
  readonly nameOf: (object: ApiObject) => string
  readonly noHeaders?: boolean
}

const formats =
  'custom-columns|custom-columns-file|go-template|go-template-file|json|jsonpath|jsonpath-as-json|jsonpath-file|name|template|templatefile|wide|yaml'

export function printerFor(options: PrintOptions): Printer {
  const { flags, nameOf } = options
  const output = outputOf(flags)
  const equals = output.indexOf('=')
  const [format, argument] = equals < 0 ? [output, flags.template ?? ''] : [output.slice(0, equals), output.slice(equals + 1)]
  const printable = (objects: readonly ApiObject[]): readonly ApiObject[] =>
    flags['show-managed-fields'] === true ? objects : objects.map(withoutManagedFields)
  const document = (objects: readonly ApiObject[], isList: boolean): unknown => (isList ? listOf(objects) : objects[0])
  const allowsMissing = flags['allow-missing-template-keys'] ?? true
  switch (format) {
    case 'json':
      return { print: (objects, isList) => jsonText(document(printable(objects), isList)) }
    case 'yaml':
      return { print: (objects, isList) => yamlText(document(printable(objects), isList)) }
    case 'name':
      return { print: (objects) => objects.map((object) => `${nameOf(object)}\n`).join('') }
    case 'jsonpath':
    case 'jsonpath-file': {
      const text = templateText(argument, format === 'jsonpath-file')
      const template = parseTemplate(text)
      return {
        print: (objects, isList) =>
          withTemplateErrors('jsonpath', text, () => fillTemplate(template, document(objects, isList), { allowsMissing })),
      }
    }
    case 'jsonpath-as-json': {
      const text = templateText(argument, false)
      const template = parseTemplate(text)
      return {
        print: (objects, isList) =>
          withTemplateErrors('jsonpath', text, () => jsonText(templateValues(template, document(objects, isList), { allowsMissing }))),
      }
    }
    case 'go-template':
    case 'go-template-file':
    case 'template':
    case 'templatefile': {
      const text = templateText(argument, format.endsWith('file'))
      const template = parseTemplateText(text)
      return {
        print: (objects, isList) =>
          withTemplateErrors('template', text, () => fillGoTemplate(template, document(objects, isList), { allowsMissing })),
      }
    }
    case 'custom-columns':
      return columnPrinter(namedColumns(argument), options)
    case 'custom-columns-file':
      return columnPrinter(columnsOfFile(readFileSync(argument, 'utf8')), options)
    default:
      throw new CommandError(`unable to match a printer suitable for the output format "${format}", allowed formats are: ${formats}`)
  }
}

function templateText(text: string, isFile: boolean): string {
  if (text === '') throw new CommandError('template format specified but no template given')
  return isFile ? readFileSync(text, 'utf8') : text
}

function parseTemplateText(text: string): ReturnType<typeof parseGoTemplate> {
  try {
    return parseGoTemplate(text)
  } catch (thrown) {
    throw thrown instanceof CommandError ? new CommandError(`error parsing template ${text}, ${thrown.message}`) : thrown
  }
}

function withTemplateErrors(templateKind: string, text: string, print: () => string): string {
  try {
    return print()
  } catch (thrown) {
    throw thrown instanceof CommandError
      ? new CommandError(`error executing ${templateKind} ${JSON.stringify(text)}: ${thrown.message}`)
      : thrown
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
