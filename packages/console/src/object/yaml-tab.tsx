// The tab with the object as YAML.

import type { Json } from '@cluster-apiserver/api/api/object.js'
import { writeYaml } from '@cluster-apiserver/api/codec/yaml/write-yaml.js'
import { useCallback, useMemo, useState } from 'preact/hooks'
import { lazy } from '../ui/lazy.js'
import { noteOf, ownersOf } from '../understand/field-notes.js'
import { type ObjectContext, withoutManagedFields } from './object-context.js'
import { type FieldPath, yamlLines } from './yaml-lines.js'

const YamlView = lazy(async () => (await import('../editor/yaml-view.js')).YamlView)

export function YamlTab({ object }: ObjectContext) {
  const [showsManagers, setShowsManagers] = useState(true)
  const [copied, setCopied] = useState('Copy')
  const json = useMemo(() => withoutManagedFields(object) as unknown as Json, [object])
  const lines = useMemo(() => yamlLines(json), [json])
  const owners = useMemo(() => ownersOf(object), [object])
  const copy = (): void => {
    navigator.clipboard.writeText(writeYaml(json)).then(
      () => setCopied('Copied'),
      () => setCopied('The browser refused to copy'),
    )
  }
  return (
    <YamlView
      label="Object as YAML"
      lines={lines}
      noteOf={useCallback((path: FieldPath) => noteOf(owners, path), [owners])}
      showsNotes={showsManagers}
    >
      <button type="button" onClick={copy}>
        {copied}
      </button>
      <button
        type="button"
        aria-pressed={showsManagers}
        title="The manager of each field; its operation and time appear at the pointer and the cursor"
        onClick={() => setShowsManagers(!showsManagers)}
      >
        Managers
      </button>
    </YamlView>
  )
}
