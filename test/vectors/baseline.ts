// Which cases of the tables are known to match, kept in a file so that a change that loses one is noticed.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { repoRoot } from '../kit/paths.js'

const path = join(repoRoot, 'test', 'vectors', 'baseline.json')

/** Names of cases by file. */
export type Baseline = { readonly [file: string]: readonly string[] }

export const readBaseline = (): Baseline => (existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as Baseline) : {})

export const writeBaseline = (baseline: Baseline): void => writeFileSync(path, `${JSON.stringify(baseline, undefined, 2)}\n`)

/** The folder with the tables: beside the repository, or where VECTORS_ROOT says; undefined when there is none. */
export function findVectors(): string | undefined {
  const root = process.env['VECTORS_ROOT'] ?? join(repoRoot, '..', 'shared', 'vectors')
  return existsSync(root) ? root : undefined
}
