// The version of this package, from its own description.

import { readFileSync } from 'node:fs'

/** `0.0.0` when the description is not where it is installed. */
export function packageVersion(): string {
  try {
    const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
    return (JSON.parse(text) as { readonly version?: string }).version ?? '0.0.0'
  } catch {
    return '0.0.0'
  }
}
