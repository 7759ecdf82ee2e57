// Output flags of commands that print objects: -o, --template, missing template keys and managedFields.

import type { FlagTable } from '../command-line/flags.js'

export const printFlags = {
  output: { kind: 'text', short: 'o', help: 'yaml, json, name, jsonpath=…, go-template=…, custom-columns=…' },
  template: { kind: 'text', help: 'template or template file, if not part of -o' },
  'allow-missing-template-keys': { kind: 'switch', initial: 'true', help: 'false: missing fields are errors' },
  'show-managed-fields': { kind: 'switch', help: 'show metadata.managedFields' },
} as const satisfies FlagTable

export interface PrintFlagValues {
  readonly output: string | undefined
  readonly template?: string | undefined
  readonly 'allow-missing-template-keys'?: boolean
  readonly 'show-managed-fields'?: boolean
}

export const outputOf = ({ output, template }: PrintFlagValues): string =>
  output === undefined || output === '' ? (template === undefined ? '' : 'go-template') : output

export const isTable = (flags: PrintFlagValues): boolean => ['', 'wide'].includes(outputOf(flags))
