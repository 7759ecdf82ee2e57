// Writes docs/flags.md from `cluster-apiserver --help`, one table per group of flags. `--check` only compares; exit code 1 if they differ.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const path = `${root}docs/flags.md`

const head = `# Flags

\`\`\`sh
cluster-apiserver --help
\`\`\`

\`npm run docs\` writes this page from that output. Flags that kube-apiserver has keep its name and meaning.

| topic | rule |
|---|---|
| syntax | \`--flag=value\`, \`--flag value\`, and for booleans \`--flag\` |
| list | comma-separated, or the flag repeated |
| duration | \`90s\`, \`5m\`, \`1h30m\` |
| wrong flag | the server does not start: it prints one sentence that names the flag and exits with 2 |
| flag marked \`*\` | accepted and validated for compatibility; it has no effect, and the server says so at start |
`

/** One entry per flag; the help wraps descriptions, and puts long flags on a line of their own. */
function parseGroup(section) {
  const [title, ...lines] = section.split('\n')
  const flags = []
  for (const line of lines) {
    const flag = /^([* ]) (--\S+(?: \S+)?)(?: {2,}(.*))?$/.exec(line)
    if (flag !== null) flags.push({ isIgnored: flag[1] === '*', flag: flag[2], text: flag[3] ?? '' })
    else flags.at(-1).text = `${flags.at(-1).text} ${line.trim()}`.trim()
  }
  return { title, flags }
}

const escapeCell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

function rowOf({ isIgnored, flag, text }) {
  const [, description, value = ''] = /^(.*?)(?: \(default (.*)\))?$/.exec(text)
  const defaultCell = value === '' ? '' : `\`${value.replaceAll('|', '\\|')}\``
  return `| ${isIgnored ? '* ' : ''}\`${flag.replaceAll('|', '\\|')}\` | ${defaultCell} | ${escapeCell(description)} |`
}

const renderGroup = ({ title, flags }) =>
  `\n## ${title}\n\n| flag | default | description |\n|---|---|---|\n${flags.map((flag) => `${rowOf(flag)}\n`).join('')}`

function renderPage(help) {
  const sections = help.trimEnd().split('\n\n')
  const groups = sections.filter((section) => /^[A-Z][^\n]*\n[* ] --/.test(section)).map(parseGroup)
  return head + groups.map(renderGroup).join('')
}

const page = renderPage(execFileSync(process.execPath, [`${root}bin/cluster-apiserver`, '--help'], { encoding: 'utf8' }))
if (!process.argv.includes('--check')) writeFileSync(path, page)
else if (readFileSync(path, 'utf8') !== page) {
  console.error('docs/flags.md differs from --help: run `npm run docs`')
  process.exit(1)
}
