// The flags that say how objects are shown, for every command that shows some.

import type { FlagTable } from '../flags.js'

export const printFlags = {
  output: { kind: 'text', short: 'o', help: 'yaml, json, name, jsonpath=…, go-template=…, custom-columns=…' },
  template: { kind: 'text', help: 'the template, or the file with it, where -o does not have it' },
  'allow-missing-template-keys': { kind: 'switch', initial: 'true', help: 'false: what a template names must be there' },
  'show-managed-fields': { kind: 'switch', help: 'with who owns which field' },
} as const satisfies FlagTable

export interface PrintFlagValues {
  readonly output: string | undefined
  readonly template?: string | undefined
  readonly 'allow-missing-template-keys'?: boolean
  readonly 'show-managed-fields'?: boolean
}

/** Whoever gives a template and no form means Go's. */
export const outputOf = ({ output, template }: PrintFlagValues): string =>
  output === undefined || output === '' ? (template === undefined ? '' : 'go-template') : output

export const isTable = (flags: PrintFlagValues): boolean => ['', 'wide'].includes(outputOf(flags))
