import { revalidatePath, revalidateTag } from 'next/cache'

/** `POST /revalidate?tag=stock` makes it stale, `&now=1` unusable; `?path=/catalogue` a page. */
export async function POST(request) {
  const { searchParams } = new URL(request.url)
  const path = searchParams.get('path')
  if (path !== null) revalidatePath(path)
  else revalidateTag(searchParams.get('tag'), searchParams.has('now') ? { expire: 0 } : 'max')
  return Response.json({ done: true })
}
