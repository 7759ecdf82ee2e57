// Shows differences by a program of the caller's choice, which compares two folders: what is there, and what would be.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Failure } from '../failure.js'

export interface Compared {
  /** Of both files: `apps.v1.Deployment.shop.web`. */
  readonly file: string
  /** Empty where it is not there. */
  readonly live: string
  readonly merged: string
}

/** What words of the command may look like: the rest of a shell's language is not for it. */
const plainWord = /^[a-zA-Z0-9_\-=./]+$/

/** Gives what the program wrote, and its exit code: 1 where there are differences. */
export function runExternalDiff(
  command: string,
  compared: readonly Compared[],
): { readonly text: string; readonly errors: string; readonly code: number } {
  const [program = '', ...words] = command.split(/\s+/).filter((word) => plainWord.test(word))
  const folder = mkdtempSync(join(tmpdir(), 'clusterctl-diff-'))
  try {
    const folders = ['LIVE', 'MERGED'].map((name) => join(folder, name)) as [string, string]
    for (const one of folders) mkdirSync(one)
    for (const { file, live, merged } of compared) {
      // What is missing has no file, so that the program says so.
      if (live !== '') writeFileSync(join(folders[0], file), live)
      if (merged !== '') writeFileSync(join(folders[1], file), merged)
    }
    const { status, stdout, stderr, error } = spawnSync(program, [...words, ...folders], { encoding: 'utf8', maxBuffer: 1 << 30 })
    if (error !== undefined) throw new Failure(`failed to run "${program}": ${error.message}`)
    return { text: stdout, errors: stderr, code: status ?? 2 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
