// Shows the differences between two texts.

import { useEffect, useRef } from 'preact/hooks'
import { diffView } from '../object/diff-view.js'

interface TextDiffProps {
  readonly before: readonly string[]
  readonly after: readonly string[]
  readonly label: string
}

export function TextDiff({ before, after, label }: TextDiffProps) {
  const host = useRef<HTMLDivElement>(null)
  useEffect(() => host.current?.replaceChildren(diffView(before, after, label)))
  return <div ref={host} />
}
