// A YAML editor with the explanation of the field at its cursor next to it.

import { useState } from 'preact/hooks'
import { lazy } from '../ui/lazy.js'
import type { Problem } from './problem-lines.js'
import type { Path } from './scan-yaml.js'
import { type LoadedSchema, SchemaPanel } from './schema-panel.js'

const YamlEditor = lazy(async () => (await import('./yaml-editor.js')).YamlEditor)

interface ExplainedEditorProps {
  readonly label: string
  readonly text: string
  readonly onText: (text: string) => void
  readonly problems: readonly Problem[]
  readonly loaded: LoadedSchema
}

export function ExplainedEditor({ loaded, ...editor }: ExplainedEditorProps) {
  const [path, setPath] = useState<Path>([])
  return (
    <div class="edit-columns">
      <YamlEditor {...editor} onField={setPath} schema={loaded.value?.schema} />
      <SchemaPanel loaded={loaded} path={path} />
    </div>
  )
}
