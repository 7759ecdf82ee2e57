// Edits an object in $KUBE_EDITOR, $EDITOR or vi. On a terminal, reopens it with the error until it is accepted or left unchanged.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DynamicObject } from '@cluster-apiserver/client/objects/objects.js'
import { CommandError, explain } from '../command-line/errors.js'
import { UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import { jsonText, yamlText } from '../output/documents.js'
import { parseManifest } from './manifests.js'

const instructions = `# Edit the object below. Lines that begin with '#' are ignored.
# An empty file or an unchanged file aborts the edit.
#
`

interface EditOptions {
  readonly io: Io
  readonly object: DynamicObject
  readonly format: string | undefined
  readonly withCarriageReturns: boolean
  send(edited: DynamicObject): Promise<void>
}

export async function editObject({ io, object, format, withCarriageReturns, send }: EditOptions): Promise<void> {
  if (format !== undefined && format !== '' && format !== 'yaml' && format !== 'json')
    throw new UsageError(`unable to match a printer suitable for the output format "${format}", allowed formats are: json,yaml`)
  const original = format === 'json' ? jsonText(object) : yamlText(object)
  const folder = mkdtempSync(join(tmpdir(), 'clusterctl-edit-'))
  const file = join(folder, `${(object.metadata?.name || 'new').replaceAll('/', '-')}.${format || 'yaml'}`)
  const withLineEndings = (text: string): string => (withCarriageReturns ? text.replaceAll('\n', '\r\n') : text)
  let text = withLineEndings(`${instructions}${original}`)
  let isKept = false
  const keepFile = (message: string): CommandError => {
    isKept = true
    return new CommandError(`${message}\n  your changes are in ${file}`)
  }
  try {
    await editUntilSent()
  } finally {
    if (!isKept) rmSync(folder, { recursive: true })
  }

  async function editUntilSent(): Promise<void> {
    for (;;) {
      writeFileSync(file, text)
      const problem = runEditor(file)
      if (problem !== undefined) throw readFileSync(file, 'utf8') === text ? new CommandError(problem) : keepFile(problem)
      const edited = readFileSync(file, 'utf8')
      const lines = edited
        .replaceAll('\r\n', '\n')
        .split('\n')
        .filter((line) => !line.startsWith('#'))
        .join('\n')
      if (lines.trim() === '' || edited === text || lines === original) {
        io.err('Edit cancelled, no changes made.\n')
        return
      }
      try {
        const [changed] = parseManifest(lines, file)
        if (changed === undefined) throw new CommandError('the file contains no object')
        await send(changed)
        return
      } catch (thrown) {
        const message = explain(thrown).trimEnd()
        if (!io.isTerminal) throw keepFile(message.replace(/^error: /, ''))
        text = withLineEndings(
          `${instructions}${message
            .split('\n')
            .map((line) => `# ${line}\n`)
            .join('')}#\n${lines}`,
        )
      }
    }
  }
}

/** Returns the error message if the editor fails. */
function runEditor(file: string): string | undefined {
  const editor = process.env['KUBE_EDITOR'] || process.env['EDITOR'] || 'vi'
  const { status } = spawnSync('sh', ['-c', `${editor} "$1"`, 'sh', file], { stdio: 'inherit' })
  return status === 0 ? undefined : `the editor "${editor}" failed; set EDITOR to use another one`
}
