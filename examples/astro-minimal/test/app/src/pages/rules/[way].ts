import type { APIRoute } from 'astro'
import { learnBy } from '../../lib/ways.ts'

export const GET: APIRoute = async (context) => new Response(await learnBy(context))
